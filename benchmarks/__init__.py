"""Speed and statistical coverage, each against a peer in the same run."""
