"""Verification: every attempt of a run or of a log is replayed and compared."""
