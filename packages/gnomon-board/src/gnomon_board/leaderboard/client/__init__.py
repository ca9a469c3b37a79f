"""Clients of a leaderboard: submitting a run, playing a hidden season."""
