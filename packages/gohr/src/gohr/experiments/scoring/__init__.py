"""Scores of trials, from their attempts."""
