"""Errors of a choice of tasks: held-out predictions, their order, other methods, odd rows."""
