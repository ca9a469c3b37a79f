"""Kemeny's rank aggregation: local search, a linear program, and branch and bound."""
