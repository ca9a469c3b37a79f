"""An ideal observer: which rules are still possible, and what to do about it."""
