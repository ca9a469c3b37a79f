"""Estimates in, figures and a page out."""
