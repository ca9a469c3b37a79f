"""Readers of evaluations, item by item: logs of evaluation tools, and tables of items."""
