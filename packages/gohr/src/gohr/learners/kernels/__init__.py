"""Compiled kernels of the learners: what each computes at an attempt, and its loop over a trial."""
