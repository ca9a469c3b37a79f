"""Robustness: how far a finding depends on the run, the settings and the weights of the tasks."""
