"""Operation of a server: backup, transfer, export."""
