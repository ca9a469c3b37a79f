"""The card of a report: how the run and the report were produced.

How a run was played, from its card: when, on which machine, with which versions, how long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gnomon import __version__
from gnomon.errors import counted, joined
from gnomon.reports import percent
from gohr.experiments.config.experiment_config import ExperimentConfig
from gohr.experiments.config.predefined_boards import RecordedBoards
from gohr.experiments.config.suites import available_suites, load_suite
from gohr.run_page.findings import Findings


def card_of(findings: Findings) -> tuple[tuple[str, str], ...]:
    """Return names and values: all that decided the numbers of the report."""
    config = findings.config
    at_most = "at most " if isinstance(config.predefined, RecordedBoards) else ""
    learners = [
        (f"learner {x.name}", _settings(x.kind, list(x.params.items()))) for x in config.learners
    ]
    return (
        ("experiment", config.name),
        ("rules", joined([rule.name for rule in config.rules])),
        *learners,
        ("shown the rule (reveal)", joined(findings.revealed) or "no learner"),
        ("trials", f"{at_most}{config.trials} of each learner on each rule"),
        ("episodes", f"{at_most}{config.episodes} in a trial"),
        ("horizon", f"{config.horizon} attempts in an episode"),
        ("boards", _boards(config)),
        ("errors", "denied attempts, and attempts on empty cells or on pieces that cannot move"),
        ("finished", "a board that is cleared or stuck (a stalemate)"),
        ("seed of the run", str(config.seed)),
        ("intervals", f"bootstrap, {findings.n_resamples:,} resamples, seed {findings.seed}"),
        ("confidence level", percent(findings.level)),
        ("hash of the experiment", config.hash[:16]),
        ("played by", f"gohr {findings.version}"),
        *session_rows(findings.card),
        ("reported by", f"gnomon {__version__}, numpy {np.__version__}"),
    )


def _settings(kind: str, settings: Sequence[tuple[str, object]]) -> str:
    words = [f"{name} = {value}" for name, value in settings]
    return f"{kind}: {', '.join(words)}" if words else kind


def _boards(config: ExperimentConfig) -> str:
    """Describe how boards are drawn, or which are given."""
    if isinstance(config.predefined, RecordedBoards):
        return "recorded, those of each trial"
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


Session = Mapping[str, Any]


def session_rows(card: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return names and values; data missing from the card are left out.

    Examples
    --------
    >>> card = {"sessions": [{"begun": "2026-11-21T15:32:07+00:00", "ended": None, "workers": 2}]}
    >>> for row in session_rows(card):
    ...     print(*row, sep=": ")
    begun: 2026-11-21 15:32 UTC
    workers: 2 processes
    stopped: 1 session did not come to an end
    """
    sessions = [x for x in _listed(card.get("sessions")) if isinstance(x, Mapping)]
    rows = [
        ("suites", joined([_suite(str(name)) for name in _listed(card.get("suites"))])),
        ("begun", _begun(sessions)),
        ("workers", _different(sessions, _workers)),
        ("time to play", _times(sessions)),
        ("stopped", _stopped(sessions)),
        ("computer", _different(sessions, _computer)),
        ("versions", _different(sessions, _versions)),
    ]
    return tuple((name, value) for name, value in rows if value)


def _suite(name: str) -> str:
    """Return a suite with its purpose, if this version of Gnomon has it."""
    return f"{name} ({load_suite(name).sentence})" if name in available_suites() else name


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _begun(sessions: Sequence[Session]) -> str:
    times = [str(x["begun"]).replace("T", " ")[:16] + " UTC" for x in sessions if x.get("begun")]
    later = f" and in {counted(len(times) - 1, 'later session')}" if len(times) > 1 else ""
    return times[0] + later if times else ""


def _different(sessions: Sequence[Session], say: Callable[[Session], str]) -> str:
    """Describe a property of every session, once if it is always the same."""
    return "; then ".join(dict.fromkeys(text for text in map(say, sessions) if text))


def _workers(x: Session) -> str:
    n = x.get("workers")
    if not isinstance(n, int):
        return ""
    processes = counted(n, "process", "processes")
    if x.get("scheduler") == "remote":
        return "a remote Dask cluster"
    return processes + (", a local Dask cluster" if x.get("scheduler") == "local" else "")


def _times(sessions: Sequence[Session]) -> str:
    """Sum up the time of the sessions that came to an end."""
    wall, cpu = (
        sum(x[name] for x in sessions if isinstance(x.get(name), int | float))
        for name in ("wall_time_s", "cpu_time_s")
    )
    return f"{wall:,.1f} s, of which trials kept processors busy for {cpu:,.1f} s" if wall else ""


def _stopped(sessions: Sequence[Session]) -> str:
    n = sum(x.get("ended") is None for x in sessions)
    return f"{counted(n, 'session')} did not come to an end" if n else ""


def _computer(x: Session) -> str:
    cores = f"{x['n_cores']} cores" if x.get("n_cores") else None
    return ", ".join(str(part) for part in (x.get("cpu"), cores, x.get("platform")) if part)


def _versions(x: Session) -> str:
    packages = x.get("packages")
    named = packages.items() if isinstance(packages, Mapping) else ()
    parts = [str(x["python"])] if x.get("python") else []
    return ", ".join(parts + [f"{name} {version}" for name, version in named])
