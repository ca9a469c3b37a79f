"""People at the game: sessions, studies, transcripts, and play in a terminal."""
