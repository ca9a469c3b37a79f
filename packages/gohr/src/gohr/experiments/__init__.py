"""Experiments: which learners play which rules, for how long, and the records that are kept.

An :class:`ExperimentConfig` names rules and learners; :func:`load_experiment` loads those that come
with the package. :func:`run` plays every trial into a :class:`Run`, a folder that keeps every
attempt; :func:`status` reports its progress. From the attempts :func:`score` makes a table of
scores, by any of the `METRICS`; :func:`elements` compares rules with a baseline. :func:`verify`
replays every attempt, also of a run that a leaderboard assigned. Transcripts of people are read by
:mod:`gohr.people`.

A run can be used wherever a path can: ``gohr.report(run(config, "out"))``.

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
