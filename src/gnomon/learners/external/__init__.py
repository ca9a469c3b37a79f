"""Learners outside this process: a program, a language model over HTTP, Stable-Baselines3."""
