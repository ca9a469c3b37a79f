"""The table of scores: one row per algorithm, task and run, and all that is known about them.

Statistics, ranking and distillation read this table and know nothing of where it came from.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores.cells import Cells, refuse_steps, rows_at_last_step, rows_at_step
from gnomon.scores.items import ItemScores, check_units
from gnomon.scores.scale import Normalization
from gnomon.scores.tidy import (
    SPECIAL,
    Origin,
    matching_rows,
    renamed_columns,
    rows_of_arrays,
    rows_of_frame,
    rows_of_records,
    tidy_frame,
    with_censored,
)

if TYPE_CHECKING:
    import pandas as pd

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
#: What a task of a table is: a task, on which runs are repeated, or an item of an evaluation.
Units = Literal["tasks", "items"]


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Scores of algorithms on tasks, several runs each, in one tidy table.

    A row is one run of one algorithm on one task, at one step if the table has a column ``step``.
    Numbers of runs may differ between tasks and algorithms, and a task may be missing for an
    algorithm: nothing is padded. An empty score is a missing run and is kept as such. A run that
    never reached its goal is ``censored`` and counts as infinitely bad.

    Build one with :meth:`from_records`, :meth:`from_frame` or :meth:`from_arrays`, or read a file
    with :func:`gnomon.scores.read_scores`. Printed, a table says what it holds and what is missing.

    Parameters
    ----------
    frame : polars.DataFrame
        The checked rows; use a named constructor instead, which checks them.
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
        Of items, the attribute that tells the cluster of each: a document, a topic.

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
    dqn: a single run a task, where others have up to 2
    """

    frame: pl.DataFrame
    metric: str = "score"
    unit: str | None = None
    higher_is_better: bool = True
    provenance: tuple[str, ...] = field(default=())
    normalization: Normalization | None = None
    units: Units = "tasks"
    cluster: str | None = None

    def __post_init__(self) -> None:
        check_units(self.frame, self.tasks, self.units, self.cluster)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        metric: str = "score",
        unit: str | None = None,
        higher_is_better: bool = True,
        provenance: Sequence[str] = (),
        units: Units = "tasks",
        cluster: str | None = None,
    ) -> ScoreTable:
        """Build a table from one mapping per row, as ``json`` or ``csv.DictReader`` give them.

        Parameters
        ----------
        records : iterable of mappings
            Each with ``algorithm``, ``task``, ``run``, ``score``; optionally ``step``,
            ``censored`` and attributes.
        metric, unit, higher_is_better, provenance, units, cluster
            As in the class.

        Raises
        ------
        ScoreDataError
            A row cannot be read; the message names it.
        """
        frame = tidy_frame(rows_of_records(records), Origin(), {})
        return cls(frame, metric, unit, higher_is_better, (*provenance,), None, units, cluster)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        metric: str = "score",
        unit: str | None = None,
        higher_is_better: bool = True,
        provenance: Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
        units: Units = "tasks",
        cluster: str | None = None,
    ) -> ScoreTable:
        """Build a table from a data frame, a mapping of columns, or an array for each algorithm.

        Parameters
        ----------
        frame : data frame or mapping
            A frame of Polars, pandas, PyArrow or any that narwhals knows, or a mapping from name to
            column, with columns as in :meth:`from_records`. Or, as rliable has them, a mapping from
            algorithm to an array (runs, tasks), which :meth:`from_arrays` reads.
        columns : mapping, optional
            What columns are called in the frame: ``{"algorithm": "Name"}``.
        metric, unit, higher_is_better, provenance, units, cluster
            As in the class.
        where : mapping, optional
            Attribute values that a row must have to be read.

        Raises
        ------
        ScoreDataError
            A row cannot be read, or a column is not there; the message names it.
        UnknownNameError
            A score table has no column as named in `columns`.
        TypeError
            `frame` is none of these.

        Examples
        --------
        >>> frame = pl.DataFrame({"Name": ["a", "a"], "Env": "t", "seed": [1, 2], "Return": [3, 4]})
        >>> names = {"algorithm": "Name", "task": "Env", "run": "seed", "score": "Return"}
        >>> ScoreTable.from_frame(frame, columns=names).runs("a", "t")
        array([3., 4.])
        """
        rows = renamed_columns(rows_of_frame(frame), columns or {}, Origin())
        tidy = tidy_frame(rows, Origin(), where or {})
        return cls(tidy, metric, unit, higher_is_better, (*provenance,), None, units, cluster)

    @classmethod
    def from_arrays(
        cls,
        scores: Mapping[str, npt.ArrayLike],
        *,
        tasks: Sequence[str] | None = None,
        steps: Sequence[float] | None = None,
        metric: str = "score",
        unit: str | None = None,
        higher_is_better: bool = True,
        provenance: Sequence[str] = (),
        units: Units = "tasks",
        cluster: str | None = None,
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
        metric, unit, higher_is_better, provenance, units, cluster
            As in the class.

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
        tidy = tidy_frame(rows_of_arrays(scores, tasks, steps), Origin(), {})
        return cls(tidy, metric, unit, higher_is_better, (*provenance,), None, units, cluster)

    def __len__(self) -> int:
        """Return the number of rows, missing runs included."""
        return self.frame.height

    def __repr__(self) -> str:
        return f"<ScoreTable: {self.describe().splitlines()[0]}>"

    def _repr_html_(self) -> str:
        return str(pkgutil.resolve_name("gnomon.scores.contents:html_contents")(self))

    @cached_property
    def algorithms(self) -> tuple[str, ...]:
        """The algorithms, in the order of their first row."""
        return tuple(self.frame["algorithm"].unique(maintain_order=True))

    @cached_property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the order of their first row."""
        return tuple(self.frame["task"].unique(maintain_order=True).to_list())

    @cached_property
    def _known(self) -> dict[str, dict[str, None]]:
        """The algorithms and the tasks, each found without looking at the others."""
        return {"algorithm": dict.fromkeys(self.algorithms), "task": dict.fromkeys(self.tasks)}

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The names of the columns that have no fixed meaning, to select by."""
        return tuple(name for name in self.frame.columns if name not in SPECIAL)

    @cached_property
    def n_steps(self) -> int:
        """The number of different steps; 1 for a table without a column ``step``."""
        return self.frame["step"].n_unique() if "step" in self.frame.columns else 1

    @cached_property
    def item_scores(self) -> ItemScores:
        """The rows as arrays in one order of items, missing scores included."""
        refuse_steps(self.n_steps)
        return ItemScores.of(self.effective_scores(), self.algorithms, self.tasks, self.cluster)

    @cached_property
    def _cells(self) -> Cells:
        """The rows that have a score, one for each run."""
        refuse_steps(self.n_steps)
        rows = self.effective_scores().select("algorithm", "task", "run", "score")
        return Cells(rows.filter(~pl.col("score").is_nan()), self.algorithms, self.tasks)

    @cached_property
    def _curve_cells(self) -> Cells:
        """All rows, with their steps."""
        columns = ("algorithm", "task", "run", "step", "score")
        return Cells(self.effective_scores().select(columns), self.algorithms, self.tasks)

    def effective_scores(self) -> pl.DataFrame:
        """Return the rows with censored scores replaced by the infinitely bad one."""
        return with_censored(self.frame, float("-inf") if self.higher_is_better else float("inf"))

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
            The table has several steps per run; see :meth:`last_step` and :meth:`at_step`.
        """
        self._check_names([algorithm], [task])
        return self._cells.numbers("score", algorithm, task)

    def strata(self, algorithm: str, tasks: Sequence[str]) -> tuple[FloatArray, IntArray]:
        """Return an algorithm's scores on one task or more, in turn, and how many each has."""
        self._check_names([algorithm], tasks)
        return self._cells.strata("score", algorithm, tasks)

    def run_labels(self, algorithm: str, task: str) -> tuple[Any, ...]:
        """Return the labels of the runs that :meth:`runs` gives, in the same order."""
        return tuple(self._cells.column("run", algorithm, task).to_list())

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
        if "step" not in self.frame.columns:
            raise ScoreDataError("expected a column 'step' for curves; found none")
        self._check_names([algorithm], [task])
        return self._curve_cells.curves(algorithm, task)

    def last_step(self) -> ScoreTable:
        """Return the table of each run's score at its own last step, without the column."""
        if "step" not in self.frame.columns:
            return self
        told = (*self.provenance, "last step of each run")
        return replace(self, frame=rows_at_last_step(self.frame), provenance=told)

    def at_step(self, step: float) -> ScoreTable:
        """Return the table of the scores at one step, without the column.

        Raises ScoreDataError: no row is at that step.
        """
        rows, told = rows_at_step(self.frame, step), (*self.provenance, f"step {step:g}")
        return replace(self, frame=rows, provenance=told)

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
        chosen = matching_rows(self.frame, where, Origin()) if where else True
        frame = self.frame.filter(chosen)
        for column, names in (("algorithm", algorithms), ("task", tasks)):
            if names is not None:
                self._check_names(**{f"{column}s": (names := list(names))})
                frame = frame.filter(pl.col(column).is_in(names))
        scale = self.normalization
        if scale is not None and (tasks is not None or where):
            # Of the tasks that had no scale none was asked for.
            scale = replace(scale, left_out=None)
        return replace(self, frame=frame, normalization=scale)

    @property
    def scale(self) -> str:
        """What a score is, for an axis: metric, unit, normalisation.

        Examples
        --------
        >>> ScoreTable.from_arrays({"a": [[1.0]]}, metric="return", unit="points").scale
        'return, points'
        """
        notes = [self.unit, self.normalization and f"{self.normalization.name} normalised"]
        return ", ".join([self.metric.replace("_", " "), *(note for note in notes if note)])

    def describe(self) -> str:
        """Return what the table holds and what is missing in it, one fact a line."""
        return str(pkgutil.resolve_name("gnomon.scores.contents:contents")(self))

    __str__ = describe

    def to_frame(self) -> pl.DataFrame:
        """Return the rows as a Polars data frame."""
        return self.frame.clone()

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame; pandas must be installed."""
        import pandas as pd

        return pd.DataFrame(self.frame.to_dict(as_series=False))

    def to_records(self) -> list[dict[str, Any]]:
        """Return all of :meth:`iter_records`."""
        return list(self.iter_records())

    def iter_records(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as mappings fit for JSON: a score that is not finite is None."""
        finite = pl.when(pl.col("score").is_finite()).then(pl.col("score"))
        for part in self.frame.iter_slices():
            yield from part.with_columns(finite.alias("score")).to_dicts()

    def _check_names(self, algorithms: Iterable[str] = (), tasks: Iterable[str] = ()) -> None:
        """Refuse a name that is not in the table."""
        for kind, names in (("algorithm", algorithms), ("task", tasks)):
            for name in names:
                if name not in self._known[kind]:
                    raise UnknownNameError(kind, name, tuple(self._known[kind]))
