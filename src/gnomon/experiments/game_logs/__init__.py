"""Result files and transcripts of the game servers, written and read."""
