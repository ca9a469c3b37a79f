"""Confidence intervals of one estimate, by closed forms and from resamples."""
