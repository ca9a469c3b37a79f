"""How many runs: power, widths of intervals, subsamples, sequential comparisons."""
