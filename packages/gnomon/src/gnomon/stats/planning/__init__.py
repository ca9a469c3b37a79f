"""How many runs: power, widths of intervals, sequential comparisons."""
