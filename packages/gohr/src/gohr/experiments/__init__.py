"""Experiments: who plays what, how long, and what is kept of it.

An :class:`ExperimentConfig` names rules and learners; :func:`load_experiment` has those that come
with the package. :func:`run` plays every trial into a :class:`RunFolder`, which keeps every
attempt, and returns a :class:`RunSummary`; :func:`status` says how far a run is, and
:func:`forecast` what one would cost. From the attempts :func:`score` makes a table of scores, by
any of the `METRICS`; :func:`statements` scores rules that were stated. :func:`verify` plays every
attempt again: of a run as a leaderboard assigned it, by an :class:`Assignment`, too. Transcripts of
people are read by :mod:`gohr.people`.

A run stands wherever its path may: ``gohr.report(run(config, "out"))``.

Examples
--------
>>> import tempfile
>>> from gohr.experiments import ExperimentConfig, run, score
>>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
>>> with tempfile.TemporaryDirectory() as out:
...     table = score(run(config, out))
>>> table.algorithms, table.tasks, table.metric
(('uniform',), ('clockwise',), 'tce')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
