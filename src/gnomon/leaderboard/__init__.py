"""The leaderboard: seasons, submissions, verification by replay, standings."""
