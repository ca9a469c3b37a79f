"""Pages of accounts: sign-in, submissions, moderation, and how to enter."""
