"""Hyper-parameters of learners: which scores are of which setting of them.

Scores tell settings in one of three ways: attribute columns of the table; a mapping that comes with
it, as from the config of a run; or the names of the algorithms, where a grid of an experiment puts
them: ``dqn, gamma=0.9, learning_rate=0.03``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gnomon.errors import ScoreDataError, UnknownNameError, listed
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn

#: Attribute columns, or the settings of each algorithm by name.
Settings = Sequence[str] | Mapping[str, Mapping[str, Any]]

#: What a learner is called where nothing tells learners apart.
ANY_LEARNER = "all"

_NAMED = re.compile(r"(?P<learner>.+?)(?P<settings>(?:, [^,=]+=[^,]*)+)")


@dataclass(frozen=True, eq=False)
class SettingGrid:
    """The scores of one learner at several settings.

    Parameters
    ----------
    learner : str
        What is tuned.
    names : tuple of str
        The hyper-parameters that take more than one value.
    values : tuple of tuples
        For each setting the value of each of them.
    runs : tuple of tuples of ndarray
        For each setting and task the scores of its runs.
    tasks : tuple of str
        The tasks.

    Examples
    --------
    >>> scores = ScoreTable.from_arrays({"dqn, lr=1": [[1.0], [2.0]], "dqn, lr=2": [[4.0], [4.0]]})
    >>> (grid,) = setting_grids(scores)
    >>> grid.learner, grid.names, grid.values
    ('dqn', ('lr',), (('1',), ('2',)))
    """

    learner: str
    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    runs: tuple[tuple[FloatArray, ...], ...]
    tasks: tuple[str, ...]

    @property
    def means(self) -> FloatArray:
        """Mean score of each setting on each task, shape (settings, tasks)."""
        return np.array([[x.mean() for x in cells] for cells in self.runs])

    @property
    def counts(self) -> FloatArray:
        """Number of runs, shape (settings, tasks)."""
        return np.array([[float(x.size) for x in cells] for cells in self.runs])

    def mapped(self, low: FloatArray, high: FloatArray, sign: float) -> SettingGrid:
        """Return the grid of ``(sign * score - low) / (high - low)``, task by task."""
        runs = tuple(
            tuple((sign * x - a) / (b - a) for x, a, b in zip(cells, low, high, strict=True))
            for cells in self.runs
        )
        return SettingGrid(self.learner, self.names, self.values, runs, self.tasks)

    def on_tasks(self, kept: Sequence[int]) -> SettingGrid:
        """Return the grid on some of its tasks, by their places."""
        runs = tuple(tuple(cells[i] for i in kept) for cells in self.runs)
        tasks = tuple(self.tasks[i] for i in kept)
        return SettingGrid(self.learner, self.names, self.values, runs, tasks)

    def named(self, setting: int) -> str:
        """Return a setting in words."""
        pairs = zip(self.names, self.values[setting], strict=True)
        return ", ".join(f"{name}={value}" for name, value in pairs)


def setting_grids(
    scores: ScoreTable, settings: Settings | None = None, *, learner: str = "learner"
) -> list[SettingGrid]:
    """Return the scores of each learner by its settings.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run.
    settings : sequence of str or mapping, optional
        The attribute columns that are hyper-parameters; or for each algorithm its settings by name;
        if not given, what the names of the algorithms say.
    learner : str
        The column, or the name in the mapping, that tells learners apart. Without it, runs of one
        algorithm at several settings are one learner; else all algorithms together are.

    Raises
    ------
    ScoreDataError
        Nothing tells settings, or no setting has scores on every task.
    UnknownNameError
        There is no such column, or the mapping lacks an algorithm.

    Warns
    -----
    DegenerateScoresWarning
        Settings without scores on some task are left out.
    """
    frame = scores.effective_scores().filter(~pl.col("score").is_nan())
    if settings is None:
        settings = _named_settings(scores.algorithms)
    keyed = (
        _by_mapping(frame, settings, learner)
        if isinstance(settings, Mapping)
        else _by_columns(frame, scores, settings, learner)
    )
    cells: dict[str, dict[tuple[tuple[str, Any], ...], dict[str, FloatArray]]] = {}
    for (name, setting, task), runs in keyed.items():
        cells.setdefault(name, {}).setdefault(setting, {})[task] = np.array(runs)
    tasks = tuple(task for task in scores.tasks if any(key[2] == task for key in keyed))
    return [_grid(name, found, tasks) for name, found in cells.items()]


_Keyed = dict[tuple[str, tuple[tuple[str, Any], ...], str], list[float]]


def _named_settings(algorithms: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the settings that the names of algorithms tell."""
    found = {}
    for name in algorithms:
        match = _NAMED.fullmatch(name)
        if match is None:
            raise ScoreDataError(
                f"expected settings of each algorithm: in its name, as in 'dqn, gamma=0.9', or in "
                f"columns (settings=[...] or --setting COLUMN); found none of {name!r}"
            )
        pairs = [text.split("=", 1) for text in match["settings"].split(", ")[1:]]
        found[name] = {"learner": match["learner"], **dict(pairs)}
    return found


def _by_mapping(
    frame: pl.DataFrame, settings: Mapping[str, Mapping[str, Any]], learner: str
) -> _Keyed:
    """Return the runs of each learner, setting and task, from settings by algorithm."""
    found: _Keyed = {}
    for row in frame.iter_rows(named=True):
        if row["algorithm"] not in settings:
            raise UnknownNameError("algorithm", row["algorithm"], settings)
        own = dict(settings[row["algorithm"]])
        name = str(own.pop(learner, ANY_LEARNER))
        setting = tuple((key, _plain(value)) for key, value in own.items())
        found.setdefault((name, setting, row["task"]), []).append(row["score"])
    return found


def _plain(value: Any) -> Any:
    """Return a value that can be a key."""
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _by_columns(
    frame: pl.DataFrame, scores: ScoreTable, columns: Sequence[str], learner: str
) -> _Keyed:
    """Return the runs of each learner, setting and task, from attribute columns."""
    for name in columns:
        if name not in scores.attributes:
            raise UnknownNameError("attribute of the scores", name, scores.attributes)
    if learner not in frame.columns:
        # An algorithm at several settings is one learner; else each algorithm is a setting.
        several = frame.select("algorithm", *columns).unique()["algorithm"].is_duplicated().any()
        learner = "algorithm" if several else ANY_LEARNER
    found: _Keyed = {}
    for row in frame.iter_rows(named=True):
        setting = tuple((name, row[name]) for name in columns)
        key = (str(row.get(learner, ANY_LEARNER)), setting, row["task"])
        found.setdefault(key, []).append(row["score"])
    return found


def _grid(
    learner: str,
    cells: Mapping[tuple[tuple[str, Any], ...], Mapping[str, FloatArray]],
    tasks: tuple[str, ...],
) -> SettingGrid:
    """Return the settings of a learner that have scores on every task."""
    whole = {setting: own for setting, own in cells.items() if len(own) == len(tasks)}
    if not whole:
        raise ScoreDataError(f"{learner}: expected a setting with scores on every task, found none")
    if len(whole) < len(cells):
        gone = [", ".join(f"{k}={v}" for k, v in s) for s in cells if s not in whole]
        warn(f"{learner}: {len(gone)} settings left out, they lack a task: {listed(gone, 3)}")
    known = list(dict.fromkeys(name for setting in whole for name, _ in setting))
    values = [tuple(dict(setting).get(name) for name in known) for setting in whole]
    varying = [i for i in range(len(known)) if len({row[i] for row in values}) > 1]
    return SettingGrid(
        learner,
        tuple(known[i] for i in varying),
        tuple(tuple(row[i] for i in varying) for row in values),
        tuple(tuple(own[task] for task in tasks) for own in whole.values()),
        tasks,
    )
