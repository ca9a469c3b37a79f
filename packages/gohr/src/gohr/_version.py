"""The version, the same for gnomon, gohr and gnomon-board."""

__version__ = "0.1.0"
