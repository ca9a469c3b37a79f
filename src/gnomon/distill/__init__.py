"""Distillation: the few tasks of a suite that predict its summary score, and how far to trust them.

Read from a :class:`gnomon.scores.table.ScoreTable`: ``preparation`` makes it a matrix, ``search``
finds subsets, ``procedures`` choose among them, ``validation`` repeats the choice inside folds,
``models`` are what is kept. Nothing but ``atari`` and ``reproduction`` knows Atari.
"""
