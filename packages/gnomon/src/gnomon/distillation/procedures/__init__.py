"""Procedures that choose tasks and weights."""
