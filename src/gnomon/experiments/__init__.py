"""Who plays what, how long, and what is kept."""
