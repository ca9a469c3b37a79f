"""Learning curves: metrics along the steps, and summaries of curves."""
