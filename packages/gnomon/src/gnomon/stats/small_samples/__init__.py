"""Intervals for few runs in closed form: delta-t, moderated variances, tasks as a sample."""
