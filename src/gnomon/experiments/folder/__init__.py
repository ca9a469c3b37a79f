"""The run folder: what was played, who is writing, what became of each trial, and every attempt."""
