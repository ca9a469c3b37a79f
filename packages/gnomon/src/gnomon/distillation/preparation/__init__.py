"""Scores made ready: one row per algorithm, one column per task, and the summary."""
