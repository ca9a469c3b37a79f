"""Comparisons of algorithms: differences, tests, effect sizes."""
