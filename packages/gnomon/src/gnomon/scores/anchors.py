"""Anchors of suites: the two raw scores of each task that become 0 and 1, by name or from a file.

``atari``: random and human play on 57 games, table 12 of Aitchison, Sweetser and Hutter, *Atari-5*
(2022). ``procgen-easy`` and ``procgen-hard``: the least and the greatest return of 16 games, from
appendix C of Cobbe, Hesse, Hilton and Schulman, *Leveraging Procedural Generation to Benchmark
Reinforcement Learning* (2020), arXiv 1912.01588; each suite's numbers are those of its own
difficulty. ``dmc``: 0 and 1,000, the limits of the return of an episode of the DeepMind Control
Suite, 1,000 steps with rewards from 0 to 1 (Tassa et al. 2018, arXiv 1801.00690, section 2).

``minatar``: the five games of Young and Tian (2019, arXiv 1903.03176), who print curves. 0 is the
mean return of random play, measured (``benchmarks/random_play.py``; standard errors 0.006 for
Asterix, 0.005 for Breakout, 0.013 for Freeway, 0.003 for Seaquest, 0.017 for Space Invaders); 1 is
the return that the README of gymnax (Lange 2022, version 1.0.1) prints of its PPO agents, on games
without repeated actions that end after 1,000 steps, Freeway's after 2,500: a reference, no limit.
Of Seaquest it prints none; that of an agent with its settings was measured
(``benchmarks/trained_play.py``; standard error 0.08).
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

import numpy as np

from gnomon.errors import ScoreDataError, listed
from gnomon.scores.readers.files import read_csv, reported_number
from gnomon.scores.table import ScoreTable
from gnomon.scores.tidy import refuse_decimal_commas, role_of

Anchors = dict[str, tuple[float, float]]

#: Suites whose anchors come with Gnomon.
SUITES = ("atari", "procgen-easy", "procgen-hard", "dmc", "minatar")

#: Names of the two columns of a file: what becomes 0, and what becomes 1.
_PAIRS = (
    ("low", "high"), ("random", "human"), ("min", "max"), ("lower", "upper"), ("worst", "best"),
    ("zero", "one"), ("random", "expert"), ("random", "reference"),
)  # fmt: skip
#: Pairs of which the better score depends on the direction of the table.
_LIMITS = (("low", "high"), ("min", "max"), ("lower", "upper"))
_DMC = (0.0, 1000.0)


def anchors_of_suite(suite: str, table: ScoreTable) -> Anchors:
    """Return the anchors of those tasks of a table that a suite has."""
    if suite == "dmc":
        return _within_limits(table)
    known = shipped_anchors()[suite]
    # As in procgen:procgen-coinrun-v0, MinAtar/Breakout-v1, Breakout-MinAtar, minatar-breakout.
    bare = {task: atari_name(re.sub(r"(?i)procgen|minatar", "", task)) for task in table.tasks}
    return {task: known[name] for task, name in bare.items() if name in known}


def _within_limits(table: ScoreTable) -> Anchors:
    """Return the limits of a return on the DeepMind Control Suite for every task."""
    low, high = _DMC
    score = table.rows["score"]
    outside = np.flatnonzero(np.isfinite(score) & ((score < low) | (score > high)))
    if outside.size:
        row = next(table.rows.take(outside[:1]).records())
        raise ScoreDataError(
            f"dmc: expected returns from {low:g} to {high:g}, found {row['score']:g} of "
            f"{row['algorithm']} on {row['task']}: other tasks need a file of "
            "the anchors of each (task, low, high) as normalization"
        )
    return dict.fromkeys(table.tasks, _DMC)


@cache
def shipped_anchors() -> Mapping[str, Anchors]:
    """Return the anchors that come with Gnomon as numbers, by suite and bare name of the task."""
    text = resources.files("gnomon.scores").joinpath("data/anchors.csv").read_text("utf-8")
    found: dict[str, Anchors] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["suite"], {})[row["task"]] = (float(row["low"]), float(row["high"]))
    return found


def read_anchors(path: Path, table: ScoreTable) -> Anchors:
    """Return the anchors of a file for those tasks of a table that it has."""
    raw, origin = read_csv(path)
    lower = {name.strip().lower(): name for name in raw.names}
    pair = next((pair for pair in _PAIRS if set(pair) <= set(lower)), None)
    of_tasks = [name for name in raw.names if role_of(name) == "task"]
    if pair is None or not of_tasks:
        raise origin.error(
            "expected a column task and two such as low and high, min and max, or random and "
            f"human; found {listed(raw.names)}"
        )
    found: Anchors = {}
    refuse_decimal_commas(raw, [lower[name] for name in pair], origin)
    cells = [raw.tolist(lower[name]) for name in pair]
    for at, name_of_task in enumerate(raw.texts(of_tasks[0]).tolist()):
        task = (name_of_task or "").strip()
        if task in found:
            raise origin.error_at([at], "task", f"expected each task once, found {task!r} again")
        numbers = [reported_number(column[at]) for column in cells]
        for name, column, number in zip(pair, cells, numbers, strict=True):
            if number is None:
                raise origin.error_at([at], name, f"expected a number, found {column[at]!r}")
        zero, one = (number for number in numbers if number is not None)
        is_turned = pair in _LIMITS and not table.higher_is_better
        # A cell may be empty: such a task has no anchors.
        found[task] = (one, zero) if is_turned else (zero, one)
    found = {task: ends for task, ends in found.items() if not math.isnan(sum(ends))}
    exact = {task: found[task] for task in table.tasks if task in found}
    if exact:
        return exact
    bare = {atari_name(task): anchors for task, anchors in found.items()}
    return {task: bare[atari_name(task)] for task in table.tasks if atari_name(task) in bare}


#: What environment libraries write around the name of a game.
_AROUND = re.compile(r"(?i)^atari[-_]|(-?ram)?(deterministic|noframeskip)?(-v\d+)?$")
#: Other spellings in published tables.
_SPELLINGS = {
    "montezumasrevenge": "montezumarevenge",
    "doubleddunk": "doubledunk",
    "skiiing": "skiing",
    "sinvaders": "spaceinvaders",
    "yarrevenge": "yarsrevenge",
    "jamesbond007": "jamesbond",
    "jamesbondagent": "jamesbond",
    "upanddown": "upndown",
}


def atari_name(task: str) -> str:
    """Return the bare name of a game, however it is written.

    Examples
    --------
    >>> [atari_name(name) for name in ("Q*bert", "ALE/UpNDown-v5", "Montezuma's Revenge")]
    ['qbert', 'upndown', 'montezumarevenge']
    """
    name = _AROUND.sub("", task.strip().rsplit("/", 1)[-1])
    letters = re.sub(r"[^a-z0-9]", "", name.lower())
    return _SPELLINGS.get(letters, letters)
