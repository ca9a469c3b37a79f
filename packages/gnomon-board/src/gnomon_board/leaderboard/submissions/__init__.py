"""Submissions: announced, uploaded, queued, verified."""
