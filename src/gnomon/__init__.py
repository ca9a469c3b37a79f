"""Gnomon: a workbench for measuring learning agents."""

__version__ = "0.1.0"
