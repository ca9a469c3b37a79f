"""Files of published results: leaderboards, evaluation harnesses, papers."""
