"""The published numbers of four papers, computed again: one module each, run as a program."""
