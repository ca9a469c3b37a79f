"""Distillation: the few tasks of a suite that predict its summary score, and how far to trust them.

Scores of many algorithms on many tasks come in as a :class:`~gnomon.scores.table.ScoreTable`.
:func:`prepare` makes them a matrix: filtered, normalised, transformed, with the summary of each
algorithm to be predicted. A :class:`Procedure` chooses tasks and fits a :class:`SubsetModel` to
them; :func:`procedure_of` gives one by name. :func:`distill` does all of it, with two errors: the
plain one, and the honest one of :func:`nested_error`, for which the choice is repeated without the
algorithms that are predicted. :func:`predict` applies a model to new algorithms, and names the
better of two; :func:`next_steps` recommends the next task to run.

The numbers of the Atari-5 paper, for any suite: the error by number of tasks (:func:`sizes`), how
stable the choice is (:func:`stability`), single tasks as predictors (:func:`single`), correlations
of tasks (:func:`correlations`), and how well a subset explains every task (:func:`explained`). The
published sets of Atari games are in :mod:`gnomon.distillation.atari`.

Every verb takes a table with the options of :func:`prepare`, or scores that are prepared, and
returns records in a table: printed, drawn (``plot``), or as a data frame (``to_pandas``).

Examples
--------
>>> import numpy as np
>>> from gnomon.distillation import distill
>>> from gnomon.scores.table import ScoreTable
>>> rng = np.random.default_rng(0)
>>> rows = rng.normal(3, 1, (40, 1)) + rng.normal(0, 0.5, (40, 8))
>>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
>>> distill(table, size=3, transform="identity").model.tasks
('task_2', 'task_3', 'task_5')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
