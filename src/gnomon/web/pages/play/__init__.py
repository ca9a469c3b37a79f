"""Pages of people who play: games, partners, puzzles, results, studies."""
