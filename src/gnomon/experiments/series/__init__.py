"""Series: what a person, or a pair of partners, did on one rule, read from transcripts."""
