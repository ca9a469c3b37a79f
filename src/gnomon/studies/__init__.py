"""Human play: sessions, studies, baselines, transcripts, and play in a terminal."""
