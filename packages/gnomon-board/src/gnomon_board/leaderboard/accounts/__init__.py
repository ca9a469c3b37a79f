"""Accounts, tokens, names, and the audit log."""
