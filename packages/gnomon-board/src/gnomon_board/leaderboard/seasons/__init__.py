"""Seasons: what is played, by whom, and the commitment to hidden rules."""
