"""Statistics of benchmark results: which algorithm is better, where, and how certain that is.

A table of scores comes in; the names below are loaded when they are first used. The packages
`stats`, `ranking`, `scores` and `plot` have the building blocks, and `errors` the exceptions.

Scores
    `read_scores` reads a file of almost any layout, `load_scores` a data set by its name and
    `normalize` puts scores on a common scale; each returns a `ScoreTable`.
Statistics
    `estimate` (how good), `compare` (which of two, or of every pair, by how much),
    `profile`, `curves` (over training), `plan` (how many runs), `gate` (does a new version pass).
Ranks and smaller suites
    `rank` (intervals of ranks), `audit` (what a table supports), `distill` (the few tasks that
    predict a suite) and `predict` (scores on all tasks from scores on these, by a `SubsetModel`).
Pages
    `report` writes a page of a table or an evaluation.

Every result is a table: it prints as one, shows itself in a notebook, and has ``to_pandas()``,
``plot()``, ``warnings`` and ``settings``.

Examples
--------
>>> import gnomon as gn
>>> scores = gn.load_scores("gohr-full", "skill")
>>> scores.algorithms[:3]
('uniform', 'frugal', 'ideal')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
