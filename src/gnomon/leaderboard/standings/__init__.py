"""Standings: estimates, rank intervals and tie groups of verified trials."""
