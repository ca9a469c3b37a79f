"""Who plays what, how long, and what is kept of it: configs, the runner, run folders, scoring."""
