"""The game in the frameworks with which others evaluate and train models, one file each.

Each file needs the extra of its name (``pip install gnomon-rl[inspect]``), and is imported by who
uses that framework, never by Gnomon. All of them have the board, the words and the reading of
answers from :mod:`gnomon.learners.language_model`, and the game from the engine, so that a result
is the same wherever it was played.
"""
