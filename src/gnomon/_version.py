"""The version of Gnomon, which every result and every run folder records."""

__version__ = "0.1.0"
