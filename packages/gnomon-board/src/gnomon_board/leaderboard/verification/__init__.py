"""Verification: every attempt of a run made again and compared."""
