"""One game, played: its records, session, view, rewards, turns, boards; no database."""
