"""The table of scores: one row per algorithm, task and run, with metric, unit and direction.

It is the only input of statistics, ranking and distillation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, get_args

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, UnknownNameError, check_word, joined, listed
from gnomon.scores.columns import (
    Codes,
    Flags,
    IntArray,
    Rows,
    Texts,
    group_means,
    parts_of,
    rows_of_arrays,
)
from gnomon.scores.columns import FloatArray as FloatArray
from gnomon.scores.tidy import SPECIAL, Origin, matching_rows, numbered, tidy_rows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from gnomon.scores.normalization import Normalization

#: What a task of a table is: a task, on which runs are repeated, or an item of an evaluation.
Units = Literal["tasks", "items"]
UNITS = get_args(Units)


class About(TypedDict, total=False):
    """Attributes of a whole table; see :class:`ScoreTable`."""

    metric: str
    unit: str | None
    higher_is_better: bool
    provenance: Sequence[str]
    units: Units
    cluster: str | None
    of_summaries: bool


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Scores of algorithms on tasks, several runs each, in one tidy table.

    A row is one run of one algorithm on one task, at one step if the table has a column ``step``.
    Numbers of runs may differ between tasks and algorithms, and a task may be missing for an
    algorithm: nothing is padded. A row without a score is a missing run, which is reported. A run
    that never reached its goal is ``censored``; its score is infinite, in the bad direction.

    Build one from a data frame, a list of records or one array for each algorithm, or read a file
    with :func:`gnomon.scores.read_scores`. A printed table lists its contents and what is missing.

    Parameters
    ----------
    rows : data frame, mapping or list of records
        A frame of pandas, Polars or PyArrow, or a mapping from name to column, with the columns
        ``algorithm``, ``task``, ``run`` and ``score``, or under usual other names such as
        ``agent``, ``environment``, ``seed`` and ``return``, or wide, with a column for each task;
        or one array (runs, tasks) for each algorithm. As an attribute, the checked rows.
    metric : str
        What a score is, for example ``"tce"``.
    unit : str, optional
        Its unit, for example ``"errors"``.
    higher_is_better : bool
        The direction of the score.
    provenance : tuple of str
        Where the scores came from and what was done to them, in order.
    normalization : Normalization, optional
        How the scores were put on a common scale; None for raw ones.
    units : {"tasks", "items"}
        What a task is. If items of an evaluation, an algorithm is a model and a run is an epoch of
        an item, nested in it.
    cluster : str, optional
        For items, the attribute that gives the cluster of each: a document, a topic.
    of_summaries : bool
        Whether the runs stand in for printed means and standard deviations: only what these decide
        (:func:`gnomon.estimate` of means and medians, profiles of distance) describes real runs.

    Examples
    --------
    >>> scores = {"uniform": [[812], [790]], "dqn": [[55]]}
    >>> table = ScoreTable.from_arrays(
    ...     scores, tasks=["clockwise"], metric="tce", unit="errors", higher_is_better=False
    ... )
    >>> table.algorithms
    ('uniform', 'dqn')
    >>> table.runs("uniform", "clockwise")
    array([812., 790.])
    >>> print(table)
    3 scores (tce, errors, lower is better): 2 algorithms, 1 task, 1 to 2 runs
    dqn: a single run per task, where others have up to 2
    >>> ScoreTable({"model": ["dqn", "ppo"], "pong": [1, 2], "ant": [3, 4]}).runs("ppo", "ant")
    array([4.])
    """

    rows: Rows
    metric: str = "score"
    unit: str | None = None
    higher_is_better: bool = True
    provenance: tuple[str, ...] = field(default=())
    normalization: Normalization | None = None
    units: Units = "tasks"
    cluster: str | None = None
    of_summaries: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            rows: Any,
            metric: str = "score",
            unit: str | None = None,
            higher_is_better: bool = True,
            provenance: Sequence[str] = (),
            normalization: Normalization | None = None,
            units: Units = "tasks",
            cluster: str | None = None,
            of_summaries: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        given: Any = self.rows
        if not isinstance(given, Rows):
            found = _read(given)
            own = {field.name: getattr(self, field.name) for field in fields(self)}
            for field in fields(self):
                if field.name == "rows" or own[field.name] == field.default:
                    object.__setattr__(self, field.name, getattr(found, field.name))
        object.__setattr__(self, "provenance", tuple(self.provenance))
        check_word("units", self.units, UNITS)
        if self.cluster is not None:
            if self.units == "tasks":
                raise ScoreDataError(
                    "clusters exist for items only: expected units 'items', found 'tasks'"
                )
            clusters_of_items(self.rows, self.cluster)

    @classmethod
    def from_arrays(
        cls,
        scores: Mapping[str, npt.ArrayLike],
        *,
        tasks: Sequence[str] | None = None,
        steps: Sequence[float] | None = None,
        **about: Unpack[About],
    ) -> ScoreTable:
        """Build a table from one array per algorithm, as rliable takes them.

        Parameters
        ----------
        scores : mapping from algorithm to array
            Shape (runs, tasks) or (runs, tasks, steps); NaN where a run is missing. Algorithms may
            differ in their number of runs.
        tasks : sequence of str, optional
            Names of the columns; ``task_0``, ... if not given.
        steps : sequence of float, optional
            Values of the third axis; 0, 1, ... if not given.
        **about
            `metric`, `unit`, `higher_is_better`, `provenance`, `units`, `cluster`, `of_summaries`,
            as in the class.

        Raises
        ------
        ScoreDataError
            An array is not of such a shape, or the shapes do not agree.

        Examples
        --------
        >>> table = ScoreTable.from_arrays({"a": [[1, 2], [3, 4]], "b": [[5, 6]]})
        >>> table.runs("a", "task_1")
        array([2., 4.])
        """
        return cls(tidy_rows(rows_of_arrays(scores, tasks, steps), Origin(), {}), **about)

    def __len__(self) -> int:
        """Return the number of rows, missing runs included."""
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<ScoreTable: {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        from gnomon.scores.checks import contents

        return contents(self)

    def _repr_html_(self) -> str:
        from gnomon.scores.checks import html_contents

        return html_contents(self)

    @property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order of their first row."""
        return tuple(self.rows["algorithm"].names)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of their first row."""
        return tuple(self.rows["task"].names)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the columns that have no fixed meaning, to select by."""
        return tuple(name for name in self.rows.names if name not in SPECIAL)

    @cached_property
    def n_steps(self) -> int:
        """The number of different steps; 1 for a table without a column ``step``."""
        return np.unique(self.rows["step"]).size if "step" in self.rows else 1

    @cached_property
    def effective_scores(self) -> FloatArray:
        """The score of each row, shape (rows,): infinitely bad where censored."""
        score: FloatArray = self.rows["score"]
        if "censored" not in self.rows:
            return score
        worst = float("-inf") if self.higher_is_better else float("inf")
        # An infinite score keeps its sign.
        return np.where(self.rows["censored"] & ~np.isinf(score), worst, score)

    @cached_property
    def _cells(self) -> _Cells:
        """The rows that have a score, one for each run."""
        self._refuse_steps()
        return _Cells(self.rows, self.effective_scores, ~np.isnan(self.effective_scores))

    @cached_property
    def _curve_cells(self) -> _Cells:
        """All rows, with their steps."""
        return _Cells(self.rows, self.effective_scores, np.ones(len(self), bool))

    def _refuse_steps(self) -> None:
        if self.n_steps > 1:
            take = "last_step() or gnomon.scores.at_common_step"
            raise ScoreDataError(f"{self.n_steps} steps of each run; expected one: take {take}")

    def runs(self, algorithm: str, task: str) -> FloatArray:
        """Return the scores of an algorithm's runs on a task.

        Missing runs are left out; a censored run is infinite, in the bad direction. The array is
        empty if the algorithm has no score on the task.

        Parameters
        ----------
        algorithm, task : str
            Names in the table.

        Returns
        -------
        ndarray of float, shape (runs,)

        Raises
        ------
        UnknownNameError
            The table has no such algorithm or task.
        ScoreDataError
            The table has several steps per run; see :func:`gnomon.scores.at_common_step`.
        """
        self._check_names([algorithm], [task])
        cells = self._cells
        return cells.score[cells.of(algorithm, task)].copy()

    def means(self) -> FloatArray:
        """Return the mean score of each algorithm on each task, shape (algorithms, tasks).

        Of items it is the mean over epochs. NaN where there is no score. Read-only where all cells
        have one row, in order: the scores of the table itself, without memory for a copy.
        """
        self._refuse_steps()
        algorithm, task = self.rows["algorithm"], self.rows["task"]
        shape = n, n_tasks = len(algorithm.names), len(task.names)
        if len(self) == n * n_tasks and (
            (task.codes.reshape(shape) == np.arange(n_tasks)).all()
            and (algorithm.codes.reshape(shape) == np.arange(n)[:, None]).all()
        ):
            whole = self.effective_scores.reshape(shape)
            whole.flags.writeable = False
            return whole
        cell = algorithm.codes.astype(np.int64) * n_tasks + task.codes
        return group_means(cell, self.effective_scores, n * n_tasks).reshape(shape)

    def samples(self, algorithm: str) -> tuple[Codes, FloatArray]:
        """Return the place of the task, and the score, of each row of an algorithm with a score."""
        rows = self._rows_of_algorithm[algorithm]
        task, score = self.rows["task"].codes[rows], self.effective_scores[rows]
        there = ~np.isnan(score)
        return (task, score) if there.all() else (task[there], score[there])

    @cached_property
    def _rows_of_algorithm(self) -> dict[str, Any]:
        """The rows of each algorithm: slices, where they stand together."""
        column = self.rows["algorithm"]
        ends = np.cumsum([*column.counts().values()])
        parts: Any = map(slice, [0, *ends[:-1]], ends)
        if (column.codes[1:] < column.codes[:-1]).any():
            parts = np.split(np.argsort(column.codes, kind="stable"), ends[:-1])
        return dict(zip(column.names, parts, strict=True))

    def strata(self, algorithm: str, tasks: Sequence[str]) -> tuple[FloatArray, IntArray]:
        """Return an algorithm's scores, concatenated over tasks, and their number on each task."""
        self._check_names([algorithm], tasks)
        places, counts = self._cells.strata(algorithm, tasks)
        return self._cells.score[places], counts

    def strata_labels(self, algorithm: str, tasks: Sequence[str]) -> npt.NDArray[np.object_]:
        """Return the labels of the runs whose scores :meth:`strata` gives."""
        self._check_names([algorithm], tasks)
        cells = self._cells
        return self._run_labels[cells.rows_at(cells.strata(algorithm, tasks)[0])]

    def run_labels(self, algorithm: str, task: str) -> tuple[Any, ...]:
        """Return the labels of the runs that :meth:`runs` gives, in the same order."""
        return tuple(self.strata_labels(algorithm, [task]))

    @cached_property
    def _run_labels(self) -> npt.NDArray[np.object_]:
        """Label of the run of every row, shape (rows,)."""
        return np.array(self.rows.tolist("run"), dtype=object)

    def tasks_of(self, algorithm: str) -> tuple[str, ...]:
        """Return the tasks on which an algorithm has at least one score, in the table's order."""
        return self.shared_tasks([algorithm])

    def shared_tasks(self, algorithms: Iterable[str] | None = None) -> tuple[str, ...]:
        """Return the tasks on which every one of the algorithms has at least one score."""
        names = self.algorithms if algorithms is None else tuple(algorithms)
        self._check_names(names)
        rows = [self.algorithms.index(name) for name in names]
        return tuple(compress(self.tasks, np.all(self.run_counts[rows] > 0, axis=0).tolist()))

    @property
    def run_counts(self) -> IntArray:
        """Number of scores of each algorithm on each task, shape (algorithms, tasks)."""
        return self._cells.counts

    def curves(self, algorithm: str, task: str) -> tuple[FloatArray, FloatArray]:
        """Return the learning curves of an algorithm's runs on a task.

        Parameters
        ----------
        algorithm, task : str
            Names in the table.

        Returns
        -------
        steps : ndarray of float, shape (steps,)
            All steps of these runs, ascending.
        scores : ndarray of float, shape (runs, steps)
            NaN where a run has no score at a step.

        Raises
        ------
        ScoreDataError
            The table has no column ``step``.
        """
        if "step" not in self.rows:
            raise ScoreDataError("expected a column 'step' for curves; found none")
        self._check_names([algorithm], [task])
        cells = self._curve_cells
        own = self.rows.only("run", "step").take(cells.rows_at(cells.of(algorithm, task)))
        steps, at = np.unique(own["step"].astype(np.float64), return_inverse=True)
        place: dict[Any, int] = {}
        runs = [place.setdefault(label, len(place)) for label in own.tolist("run")]
        curves = np.full((len(place), steps.size), np.nan)
        curves[runs, at] = cells.score[cells.of(algorithm, task)]
        return steps, curves

    def curve_labels(self, algorithm: str, task: str) -> tuple[Any, ...]:
        """Return the labels of the runs that :meth:`curves` gives, in the same order."""
        cells = self._curve_cells
        own = self.rows.only("run").take(cells.rows_at(cells.of(algorithm, task)))
        return tuple(dict.fromkeys(own.tolist("run")))

    def last_step(self) -> ScoreTable:
        """Return the table of each run's score at its own last step, without the column."""
        if "step" not in self.rows:
            return self
        run, step = self.run_of_row, self.rows["step"]
        last = np.full(int(run.max(initial=-1)) + 1, -np.inf)
        np.maximum.at(last, run, step)
        rows = self.rows.take(step == last[run]).but("step")
        return replace(self, rows=rows, provenance=(*self.provenance, "last step of each run"))

    @cached_property
    def rows_of_task(self) -> dict[str, IntArray]:
        """The places of the rows of each task, in ascending order."""
        codes = self.rows["task"].codes
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(self.tasks)))
        return dict(zip(self.tasks, np.split(order, ends[:-1]), strict=True)) if ends.size else {}

    @cached_property
    def run_of_row(self) -> IntArray:
        """The number of each row's run, shape (rows,): runs are numbered by their first row."""
        number, _ = numbered(self.rows, ("algorithm", "task", "run"))
        _, first, run = np.unique(number, return_index=True, return_inverse=True)
        rank = np.empty(first.size, np.int64)
        rank[np.argsort(first)] = np.arange(first.size)
        return rank[run]

    def select(
        self,
        *,
        algorithms: Iterable[str] | None = None,
        tasks: Iterable[str] | None = None,
        where: Mapping[str, Any] | None = None,
    ) -> ScoreTable:
        """Return the table of some algorithms, tasks and attribute values.

        Parameters
        ----------
        algorithms, tasks : iterable of str, optional
            What to keep; all if not given.
        where : mapping, optional
            Attribute values that a row must have, compared as texts.

        Raises
        ------
        UnknownNameError
            A name is not in the table.
        ScoreDataError
            No row has such an attribute.
        """
        keep = matching_rows(self.rows, where or {}, Origin())
        for column, names in (("algorithm", algorithms), ("task", tasks)):
            if names is not None:
                self._check_names(**{f"{column}s": (names := list(names))})
                keep &= self.rows[column].isin(names)
        scale = self.normalization
        if scale is not None and (tasks is not None or where):
            # The tasks that were left out of the scale are not part of the selection.
            scale = replace(scale, left_out=None)
        return replace(self, rows=self.rows.take(keep), normalization=scale)

    @property
    def scale(self) -> str:
        """What a score is, for an axis: ``return, points``; with the normalisation."""
        notes = [self.unit, self.normalization and f"{self.normalization.name} normalised"]
        return ", ".join([self.metric.replace("_", " "), *(note for note in notes if note)])

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame; Polars must be installed."""
        import polars as pl

        return pl.DataFrame(_arrays(self.rows))

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(_arrays(self.rows))

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as mappings fit for JSON: a score that is not finite is None."""
        return list(self.rows.records())

    def _check_names(self, algorithms: Iterable[str] = (), tasks: Iterable[str] = ()) -> None:
        """Refuse a name that is not in the table."""
        for kind, names in (("algorithm", algorithms), ("task", tasks)):
            for name in names:
                if name not in self._places[kind]:
                    raise UnknownNameError(kind, name, tuple(self._places[kind]))

    @cached_property
    def _places(self) -> dict[str, dict[str, int]]:
        """The place of each algorithm and of each task."""
        kinds = {"algorithm": self.algorithms, "task": self.tasks}
        return {kind: {name: i for i, name in enumerate(names)} for kind, names in kinds.items()}


def _read(frame: Any) -> ScoreTable:
    """Return the table that a data frame holds, as a file with its columns is read."""
    from gnomon.scores.readers.registry import ReadRequest, Source, read_with, recognised

    source, wanted = Source(None, frame), ReadRequest()
    return read_with(recognised(source, wanted), source, wanted)


def clusters_of_items(rows: Rows, cluster: str) -> tuple[tuple[str, ...], IntArray]:
    """Return the clusters in the order of their first row, and the place of each item's cluster."""
    if cluster not in rows:
        found = listed([name for name in rows.names if name not in SPECIAL]) or "none"
        raise ScoreDataError(f"no column {cluster!r} of clusters; found {found}")
    column, task = rows.texts(cluster), rows["task"]
    cluster_of, unlike = np.full(len(task.names), -1), []
    for part in parts_of(len(rows)):
        item, code = task.codes[part], column.codes[part]
        new = (cluster_of[item] < 0) & (code >= 0)
        cluster_of[item[new]] = code[new]
        unlike.append(item[(code >= 0) & (code != cluster_of[item])])
    odd = np.concatenate([*unlike, np.flatnonzero(cluster_of < 0)])
    if odd.size:
        own = column.codes[task.codes == odd[0]]
        found = joined([repr(x) for x in dict.fromkeys(column.names[c] for c in own if c >= 0)])
        found = found or "none"
        where = f"item {task.names[odd[0]]!r}, column {cluster!r}"
        raise ScoreDataError(f"{where}: expected one cluster, found {found}")
    return column.names, cluster_of


class _Cells:
    """Scores sorted by algorithm and task, so that those of each pair are one slice.

    Parameters
    ----------
    rows : Rows
    score : ndarray of float, shape (rows,)
    kept : ndarray of bool, shape (rows,)
        The rows that count.
    """

    def __init__(self, rows: Rows, score: FloatArray, kept: Flags) -> None:
        algorithm, task = rows["algorithm"], rows["task"]
        n_tasks = len(task.names)
        self._begins = {name: i * n_tasks for i, name in enumerate(algorithm.names)}
        self._tasks = {name: i for i, name in enumerate(task.names)}
        cell = algorithm.codes.astype(np.int64) * n_tasks
        cell += task.codes
        self._row = None if kept.all() else np.flatnonzero(kept)
        if self._row is not None:
            cell = cell[self._row]
        count = np.bincount(cell, minlength=len(algorithm.names) * n_tasks)
        self.counts = count.reshape(len(algorithm.names), n_tasks)
        self.starts = np.concatenate([[0], np.cumsum(count)])
        if (cell[1:] < cell[:-1]).any():
            order = np.argsort(cell, kind="stable")
            self._row = order if self._row is None else self._row[order]
        self.score: FloatArray = score if self._row is None else score[self._row]

    def of(self, algorithm: str, task: str) -> slice:
        """Return where the scores of a cell lie among all."""
        cell = self._begins[algorithm] + self._tasks[task]
        return slice(int(self.starts[cell]), int(self.starts[cell + 1]))

    def strata(self, algorithm: str, tasks: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the places of an algorithm's scores on some tasks, in turn, and their numbers."""
        cell = np.array([self._tasks[task] for task in tasks], np.int64) + self._begins[algorithm]
        begins, counts = self.starts[cell], np.diff(self.starts)[cell]
        ends = np.cumsum(counts)
        return np.repeat(begins + counts - ends, counts) + np.arange(counts.sum()), counts

    def rows_at(self, places: slice | IntArray) -> slice | IntArray:
        """Return the rows of the table with the scores at some places."""
        return places if self._row is None else self._row[places]


def _arrays(rows: Rows) -> dict[str, Any]:
    """Return the columns as data frames take them: arrays, or lists of texts."""
    return {x: rows.tolist(x) if isinstance(rows[x], Texts) else rows[x] for x in rows.names}
