"""The table of scores that everything in the second wing reads, and its files."""
