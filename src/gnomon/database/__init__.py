"""Where the leaderboard is kept: tables, the engine, and the steps from one version to the next."""
