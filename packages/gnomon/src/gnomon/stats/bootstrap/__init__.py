"""The stratified bootstrap: its draws, its compiled loops, its resamples."""
