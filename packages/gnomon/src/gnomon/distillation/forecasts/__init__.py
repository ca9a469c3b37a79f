"""Forecasts of a suite from some of its tasks: distributions, simulated suites, pairs."""
