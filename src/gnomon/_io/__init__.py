"""Atomic files, text and table files, child processes, an HTTP client."""
