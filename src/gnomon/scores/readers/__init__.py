"""Readers of score files, one a format."""
