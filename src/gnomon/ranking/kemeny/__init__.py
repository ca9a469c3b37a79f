"""Kemeny's order: the search for it, and the proof."""
