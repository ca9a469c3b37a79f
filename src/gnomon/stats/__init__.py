"""Estimates from scores of several runs on several tasks, with honest intervals."""
