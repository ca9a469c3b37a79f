"""The leaderboard: scores that are believed because their attempts can be replayed, and play."""
