"""Doing many independent pieces of work: here, on several processes."""
