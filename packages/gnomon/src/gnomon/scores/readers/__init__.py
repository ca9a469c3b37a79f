"""Readers of score files, one module for each family of formats.

:mod:`.registry` holds what a reader is, which ones there are, and which one recognises a file.
"""
