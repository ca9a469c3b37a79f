"""Binary items: which of thousands predict the share solved, on one protocol for all methods."""
