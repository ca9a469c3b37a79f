"""The Atari-5 paper: its constants, its models, and their reproduction."""
