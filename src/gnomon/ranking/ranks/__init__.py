"""Rank intervals and tie groups, by resampling."""
