"""The card of a report: how the run and the report were made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gnomon._version import __version__
from gnomon.experiments.config import ExperimentConfig
from gnomon.report.findings import Findings
from gnomon.report.prose import counted, joined, percent
from gnomon.report.sessions import session_rows

__all__ = ["card_of"]


def card_of(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return names and values: all that decided the numbers of the report."""
    config = findings.config
    learners = [
        (f"learner {x.name}", _settings(x.kind, list(x.params.items()))) for x in config.learners
    ]
    return (
        ("experiment", config.name),
        ("rules", joined([rule.name for rule in config.rules])),
        *learners,
        ("shown the rule (reveal)", joined(findings.revealed) or "no learner"),
        ("trials", f"{config.trials} of each learner on each rule"),
        ("episodes", f"{config.episodes} in a trial"),
        ("horizon", f"{config.horizon} attempts in an episode"),
        ("boards", _boards(config)),
        ("errors", "denied attempts, and attempts on empty cells or on pieces that cannot move"),
        ("finished", "a board that is cleared or stuck (a stalemate)"),
        ("seed of the run", str(config.seed)),
        ("intervals", f"bootstrap, {findings.n_resamples:,} resamples, seed {findings.seed}"),
        ("confidence level", percent(findings.level)),
        ("hash of the experiment", config.hash[:16]),
        ("played by", f"gnomon {findings.version}"),
        *session_rows(findings.card),
        ("reported by", f"gnomon {__version__}, numpy {np.__version__}"),
    )


def _settings(kind: str, settings: Sequence[tuple[str, object]]) -> str:
    words = [f"{name} = {value}" for name, value in settings]
    return f"{kind}: {', '.join(words)}" if words else kind


def _boards(config: ExperimentConfig) -> str:
    """Say how boards are drawn, or which are given."""
    if config.predefined is not None:
        n = counted(len(config.predefined.codes), "board")
        return f"{n} given by the experiment, {_ORDERS[config.predefined.order]}"
    board = config.board
    return (
        f"drawn: {_range(board.pieces)} pieces, {_range(board.shapes)} shapes, "
        f"{_range(board.colors)} colours"
    )


_ORDERS = {
    "listed": "in the order listed, over and over",
    "alphabetical": "in the order of their names, over and over",
    "random": "each once in random order, then again",
}


def _range(ends: tuple[int, int]) -> str:
    return str(ends[0]) if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
