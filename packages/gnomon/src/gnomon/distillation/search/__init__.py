"""Searches over all subsets of tasks, exact and in parallel."""
