"""Ratings: one number for each contestant, by each method."""
