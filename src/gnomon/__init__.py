"""Gnomon: a workbench for measuring learning agents.

A table of scores flows through it. The names below are public, in the order of the data; each is
loaded when it is first asked for. The packages `stats`, `ranking`, `distill`, `scores`, `rules`,
`game`, `learners`, `experiments` and `plot` have the parts for those who build their own.

Scores
    `read_scores` reads any table or run, `load_scores` one that comes with Gnomon, `normalize` puts
    one on a common scale; all three give a `ScoreTable`.
Statistics
    `estimate`, `compare`, `compare_all`, `profile`, `curves`, `plan` (how many runs).
Ranks and suites
    `rank`, `audit` (which ranks can be believed), `distill` (the few tasks that predict a suite);
    `predict` applies a `SubsetModel`, or a published set of Atari games, to scores on these tasks.
The game of hidden rules
    `parse`, `load_rule`, `available_rules`, `compile_rule`; `Board`, `BoardSpec`, `draw_boards`;
    `HiddenRulesEnv` and `HiddenRulesVectorEnv` for Gymnasium.
Learners
    `Learner` is what one of your own is; `make_learner`, `available_learners`, `play_trial`.
Experiments
    `ExperimentConfig` says who plays what, `run` plays it into a `RunFolder`, `score` makes a table
    of it, `verify` makes every attempt again.
What people read
    `report` of a run, a table or a game log; `plot`, a figure for each kind of result; `errors`.

Every result is a table: it prints as one, shows itself in a notebook, and has ``to_frame()``,
``plot()``, ``warnings`` and ``settings``.

Examples
--------
>>> import gnomon as gn
>>> scores = gn.load_scores("gohr-full", "skill")
>>> scores.algorithms[:3]
('uniform', 'frugal', 'ideal')
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import lazy_loader

from gnomon._version import __version__ as __version__
from gnomon.game.environments.registration import register_environments

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    # These two are packages that can be called, see docs/decisions/011-public-names.md.
    if name in ("distill", "report"):
        return import_module(f"gnomon.{name}")
    return _attribute(name)


register_environments()
