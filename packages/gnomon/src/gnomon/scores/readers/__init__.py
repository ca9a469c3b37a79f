"""Readers of score files, one module a format; all give a :class:`gnomon.scores.ScoreTable`.

:mod:`.registry` holds what a reader is, which ones there are, and ``read_scores``, which asks them
in turn. A reader of another package is named in its entry-point group ``gnomon.readers``.
"""
