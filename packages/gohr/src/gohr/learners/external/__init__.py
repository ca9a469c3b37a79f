"""Learners outside this process: a program, Stable-Baselines3."""
