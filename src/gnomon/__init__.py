"""Gnomon: a workbench for measuring learning agents.

The public names, by room; each is loaded when it is first asked for.

Rules
    :func:`parse`, :func:`load_rule`, :func:`available_rules`
The game
    :class:`Board`, :class:`BoardSpec`, :func:`draw_boards`, :func:`compile_rule`,
    :class:`HiddenRulesEnv`, :class:`HiddenRulesVectorEnv`
Learners
    :func:`available_learners`, :func:`make_learner`, :func:`play_trial`
Experiments
    :class:`ExperimentConfig`, :func:`run`, :class:`RunFolder`, :func:`score_table`
Scores and statistics
    :class:`ScoreTable`, :func:`read_scores`, :func:`estimate_aggregates`
The report
    :func:`build_report`
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gnomon.game.registration import register_environments

if TYPE_CHECKING:  # for type checkers and editors, which do not run __getattr__
    from gnomon.experiments.config import ExperimentConfig as ExperimentConfig
    from gnomon.experiments.run_folder import RunFolder as RunFolder
    from gnomon.experiments.runner import run as run
    from gnomon.experiments.scoring.scores import score_table as score_table
    from gnomon.game.board import Board as Board
    from gnomon.game.board import BoardSpec as BoardSpec
    from gnomon.game.board import draw_boards as draw_boards
    from gnomon.game.engine.compiler import compile_rule as compile_rule
    from gnomon.game.env import HiddenRulesEnv as HiddenRulesEnv
    from gnomon.game.vector_env import HiddenRulesVectorEnv as HiddenRulesVectorEnv
    from gnomon.learners.registry import available_learners as available_learners
    from gnomon.learners.registry import make_learner as make_learner
    from gnomon.learners.trial import play_trial as play_trial
    from gnomon.report.page import build_report as build_report
    from gnomon.rules.catalogue import available_rules as available_rules
    from gnomon.rules.catalogue import load_rule as load_rule
    from gnomon.rules.parser import parse as parse
    from gnomon.scores.readers.tidy_files import read_scores as read_scores
    from gnomon.scores.table import ScoreTable as ScoreTable
    from gnomon.stats.estimates import estimate_aggregates as estimate_aggregates

__version__ = "0.1.0"

_ROOM_OF = {
    "parse": "rules.parser",
    "load_rule": "rules.catalogue",
    "available_rules": "rules.catalogue",
    "Board": "game.board",
    "BoardSpec": "game.board",
    "draw_boards": "game.board",
    "compile_rule": "game.compiler",
    "HiddenRulesEnv": "game.env",
    "HiddenRulesVectorEnv": "game.vector_env",
    "available_learners": "learners.registry",
    "make_learner": "learners.registry",
    "play_trial": "learners.trial",
    "ExperimentConfig": "experiments.config",
    "run": "experiments.runner",
    "RunFolder": "experiments.run_folder",
    "score_table": "experiments.scoring",
    "ScoreTable": "scores.table",
    "read_scores": "scores.formats",
    "estimate_aggregates": "stats.estimate",
    "build_report": "report.page",
}

__all__ = ["__version__", *_ROOM_OF]

register_environments()


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'gnomon' has no attribute {name!r}")
    return getattr(import_module(f"gnomon.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
