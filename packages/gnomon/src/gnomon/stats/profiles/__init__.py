"""Performance profiles and their bands."""
