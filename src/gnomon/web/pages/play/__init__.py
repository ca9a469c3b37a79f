"""Pages of human play: games, their results, and studies."""
