"""Pages of the leaderboard: seasons, learners, rules, submissions, replays, moderation."""
