"""Ranks with their intervals and tie groups."""
