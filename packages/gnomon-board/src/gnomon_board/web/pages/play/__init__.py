"""Pages of people who play: games, puzzles, results, studies."""
