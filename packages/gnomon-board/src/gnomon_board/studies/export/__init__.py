"""What leaves a study: transcripts, tidy tables with a codebook, a run folder."""
