"""Statistics of items: models measured on the same questions, once or several times each."""
