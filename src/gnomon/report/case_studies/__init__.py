"""Published case studies, computed again: each printed number beside ours, each figure redrawn."""
