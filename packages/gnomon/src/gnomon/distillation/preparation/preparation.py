"""Preparation of scores for a linear model: filters, normalisation, summary score, transform."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
import polars as pl

from gnomon.distillation.forecasts.completion import completed_targets
from gnomon.distillation.preparation.prepared import (
    PreparedScores,
    References,
    RunNoise,
    Summary,
    Transform,
    check_tasks,
    transform_of,
)
from gnomon.distillation.preparation.summaries import half_summaries, summarize
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError, counted, listed
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import FloatArray, ScoreTable

_YEAR = re.compile(r"\d{4}")
#: So many names of a list are shown in a message.
_MOST_SHOWN = 8


class PreparationOptions(TypedDict, total=False):
    """The fields of :class:`Preparation`, as keywords."""

    transform: str
    summary: str | Summary
    references: References | None
    least_tasks: int
    least_algorithms: int
    least_summary: float | None
    banned: Sequence[str]
    exclude: Sequence[str]
    group_by: str | None
    date_by: str | None
    runs: Literal["scores", "transformed"]
    seed: int


def prepare(
    scores: ScoreTable | PreparedScores, **options: Unpack[PreparationOptions]
) -> PreparedScores:
    """Return scores as a linear model sees them: filtered, normalised, transformed, with a target.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        Of several steps of a run, the last counts. What is prepared stays as it is.
    **options
        The fields of :class:`Preparation`: `transform`, `summary`, `references`, `least_tasks`,
        `least_algorithms`, `least_summary`, `banned`, `exclude`, `group_by`, `date_by`, `runs`,
        `seed`.

    Returns
    -------
    PreparedScores

    Raises
    ------
    ScoreDataError, UnknownNameError
        As :meth:`Preparation.apply`; or the tasks are items of an evaluation.
    TypeError
        There is no such option, or the scores are prepared already.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[0, 9]], "b": [[99, 999]]}, tasks=["u", "v"])
    >>> prepare(table, summary="mean").x
    array([[0., 1.],
           [2., 3.]])
    """
    if isinstance(scores, PreparedScores):
        if options:
            raise TypeError(f"expected a ScoreTable for {next(iter(options))}; this is prepared")
        return scores
    if scores.units == "items":
        raise ScoreDataError(
            "expected a suite of tasks, found items of an evaluation; if the tasks of this table "
            "are to be chosen from, read it with units='tasks'"
        )
    return Preparation(**options).apply(at_common_step(scores))


@dataclass(frozen=True)
class Preparation:
    """How scores become a matrix: what is kept, how it is normalised, what is to be predicted.

    The order is: banned algorithms and excluded tasks out; algorithms with too few tasks out;
    normalisation; the summary; algorithms whose summary is too low out; tasks with too few
    algorithms are no candidates (the summary still counts them); transform.

    Parameters
    ----------
    transform : str
        ``log``, ``identity`` or ``logit``.
    summary : str or function
        What to predict: ``median``, ``mean``, ``iqm``, ``mean_log``, ``above_human``, or a function
        of an array (..., tasks) without gaps.
    references : mapping from task to (random, human), optional
        Scores become 100 (x - random) / (human - random); tasks without them are left out.
    least_tasks, least_algorithms : int
        Fewest tasks of an algorithm; fewest algorithms of a candidate task.
    least_summary : float, optional
        Algorithms must exceed it. (The code of the Atari-5 paper asks for a median above 40,
        which the paper does not mention.)
    banned : sequence of str
        Algorithms to leave out.
    exclude : sequence of str
        Tasks that are no candidates.
    group_by : str, optional
        The attribute of the table that says what an algorithm comes from.
    date_by : str, optional
        The attribute that says when an algorithm was published: a year, or a date that begins with
        one. A validation in the order of time needs it.
    runs : {"scores", "transformed"}
        How several runs become one number: the mean of the scores; or, as the Atari-5 paper's code
        has it, the mean of the transformed scores, while the summary counts the last run.
    seed : int
        Of the random halves of the smoothed target.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[0, 9]], "b": [[99, 999]]}, tasks=["u", "v"])
    >>> prepared = Preparation(summary="mean").apply(table)
    >>> prepared.x
    array([[0., 1.],
           [2., 3.]])
    >>> prepared.restore("u", [2.0])
    array([99.])
    """

    transform: str = "log"
    summary: str | Summary = "median"
    references: References | None = field(default=None, hash=False)
    least_tasks: int = 1
    least_algorithms: int = 1
    least_summary: float | None = None
    banned: Sequence[str] = ()
    exclude: Sequence[str] = ()
    group_by: str | None = None
    date_by: str | None = None
    runs: Literal["scores", "transformed"] = "scores"
    seed: int = 0

    def apply(self, table: ScoreTable) -> PreparedScores:
        """Return the matrix of a table.

        Raises
        ------
        ScoreDataError
            Nothing is left, the table holds several steps, or a reference score is unusable.
        UnknownNameError
            A banned algorithm or an excluded task is not in the table.

        Warns
        -----
        DegenerateScoresWarning
            Tasks without reference scores are left out.
        """
        transform = transform_of(self.transform)
        for name in self.banned:
            if name not in table.algorithms:
                raise UnknownNameError("algorithm", name, table.algorithms)
        check_tasks(self.exclude, table.tasks)
        rows = _usable_rows(table).filter(~pl.col("algorithm").is_in(list(self.banned)))
        record = [*table.provenance, f"{len(table.algorithms)} algorithms"]
        rows = _with_references(rows, self.references, record)
        cells = self._cells(rows, transform)
        cells = _with_least_tasks(cells, self.least_tasks, record)
        algorithms, tasks, z_mean, z_last, x = _matrices(cells)
        _check_domain(z_mean, transform, algorithms, tasks)
        z = z_mean if self.runs == "scores" else z_last
        x = transform.forward(z_mean) if self.runs == "scores" else x
        summary = summarize(z, self.summary, transform)
        keep = np.ones(len(algorithms), dtype=bool)
        if self.least_summary is not None:
            keep = summary > self.least_summary
            record.append(f"{keep.sum()} with a summary above {self.least_summary:g}")
            if not keep.any():
                raise ScoreDataError(
                    f"expected algorithms whose summary is above {self.least_summary:g}; "
                    f"the greatest is {np.nanmax(summary):.4g}"
                )
        candidates = self._candidates(tasks, x[keep], record)
        self._describe(record)
        halves = half_summaries(
            z[keep], self.summary, transform, rng=np.random.default_rng(self.seed)
        )
        groups = self._groups(rows, algorithms)
        years, noise = self._years(rows, algorithms), self._run_noise(rows, transform, tasks)
        prepared = PreparedScores(
            algorithms=tuple(a for a, k in zip(algorithms, keep, strict=True) if k),
            tasks=tasks,
            x=np.ascontiguousarray(x[keep]),
            target=transform.forward(summary[keep]),
            smoothed=halves,
            candidates=candidates,
            groups=tuple(g for g, k in zip(groups, keep, strict=True) if k),
            transform=transform,
            references=self.references,
            record=tuple(record),
            summary=self.summary,
            years=None if years is None else years[keep],
            run_noise=noise,
            normalized=self._normalized_how(table),
        )
        return completed_targets(_without_constant_tasks(prepared))

    def _cells(self, rows: pl.DataFrame, transform: Transform) -> pl.DataFrame:
        """Return one row per algorithm and task: mean and last normalised score, mean transform."""
        z = self._normalized(rows)
        scores = rows.with_columns(z=z, x=transform.forward(z))
        keys = ["algorithm", "task"]
        last, mean = pl.col("z").last().alias("z_last"), pl.col("z", "x").mean()
        return scores.group_by(keys, maintain_order=True).agg(mean, last)

    def _normalized(self, rows: pl.DataFrame) -> FloatArray:
        scores = rows["score"].to_numpy().astype(np.float64)
        if self.references is None:
            return scores
        ends = np.array([self.references[task] for task in rows["task"]], dtype=np.float64)
        return np.asarray(100.0 * (scores - ends[:, 0]) / (ends[:, 1] - ends[:, 0]))

    def _candidates(
        self, tasks: tuple[str, ...], x: FloatArray, record: list[str]
    ) -> tuple[str, ...]:
        counts = (~np.isnan(x)).sum(axis=0)
        enough = [t for t, n in zip(tasks, counts, strict=True) if n >= self.least_algorithms]
        candidates = tuple(t for t in enough if t not in self.exclude)
        record.append(
            f"{len(candidates)} of {len(tasks)} tasks with at least "
            f"{self.least_algorithms} algorithms are candidates"
        )
        return candidates

    def _describe(self, record: list[str]) -> None:
        name = self.summary if isinstance(self.summary, str) else "a function of one's own"
        record.append(f"target: {name} over the tasks that an algorithm has")
        if self.references is not None:
            record.append("normalised: 0 is random, 100 is human")
        record.append(f"transform: {self.transform}")

    def _groups(self, rows: pl.DataFrame, algorithms: tuple[str, ...]) -> tuple[str, ...]:
        if self.group_by is None:
            return algorithms
        if self.group_by not in rows.columns:
            raise UnknownNameError("column", self.group_by, rows.columns)
        known = _first_of(rows, self.group_by)
        return tuple(str(known[a]) for a in algorithms)

    def _normalized_how(self, table: ScoreTable) -> str:
        if self.references is not None:
            return "references"
        return "" if table.normalization is None else table.normalization.name

    def _years(self, rows: pl.DataFrame, algorithms: tuple[str, ...]) -> FloatArray | None:
        """Return the year of each algorithm, NaN where it is not told; None if nobody asks."""
        if self.date_by is None:
            return None
        if self.date_by not in rows.columns:
            raise UnknownNameError("column", self.date_by, rows.columns)
        known = _first_of(rows, self.date_by)
        return np.array([_year(known[a]) for a in algorithms])

    def _run_noise(
        self, rows: pl.DataFrame, transform: Transform, tasks: tuple[str, ...]
    ) -> RunNoise | None:
        """Return how much the runs of a task differ; None if hardly any has several runs."""
        x = transform.forward(self._normalized(rows))
        cells = rows.with_columns(x=x).group_by("algorithm", "task").agg(n=pl.len(), v=pl.var("x"))
        n_runs = float(np.median(cells["n"].to_numpy())) if cells.height else 0.0
        if n_runs < 2:
            return None
        several = cells.filter(pl.col("n") > 1)
        sums = several.group_by("task").agg(
            squares=((pl.col("n") - 1) * pl.col("v")).sum(), df=(pl.col("n") - 1).sum()
        )
        of_task = {task: (s, df) for task, s, df in sums.iter_rows()}
        squares, df = np.array([of_task.get(task, (0.0, 0)) for task in tasks], float).T
        pooled = squares.sum() / df.sum()
        return RunNoise(n_runs, tuple(((squares + 10 * pooled) / (df + 10)).tolist()))


def _first_of(rows: pl.DataFrame, column: str) -> dict[str, Any]:
    """Return the first entry of a column for each algorithm."""
    return dict(rows.group_by("algorithm").agg(pl.col(column).first()).iter_rows())


def _year(entry: Any) -> float:
    """Return the year of a number, a date, or a text that begins with one; NaN of anything else.

    Examples
    --------
    >>> [_year(e) for e in (2019, 2019.5, "2019-05-01", None, "soon")]
    [2019.0, 2019.0, 2019.0, nan, nan]
    """
    found = _YEAR.match(str(entry))
    return float(found.group()) if found else float("nan")


def _usable_rows(table: ScoreTable) -> pl.DataFrame:
    """Return the rows with a finite score; say how many are infinite."""
    if table.n_steps > 1:
        raise ScoreDataError(
            f"the table holds {table.n_steps} steps of each run; take last_step() or at_step(...)"
        )
    frame = table.to_polars()
    finite = pl.col("score").is_finite()
    if "censored" in frame.columns:
        finite = finite & ~pl.col("censored")
    rows = frame.filter(finite)
    n_lost = int((~frame["score"].is_nan()).sum()) - rows.height
    if n_lost:
        text = f"{n_lost} censored or infinite scores are treated as missing"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
    if rows.is_empty():
        raise ScoreDataError("expected scores to distil; every one is missing")
    single = rows.height == rows.select("algorithm", "task").n_unique()
    if single and rows["score"].is_in([0.0, 1.0]).all():
        text = (
            "every score is 0 or 1: a task that is a single item of an evaluation predicts little"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
    return rows


def _with_least_tasks(cells: pl.DataFrame, least: int, record: list[str]) -> pl.DataFrame:
    kept = cells.filter(pl.len().over("algorithm") >= least)
    n = kept["algorithm"].n_unique()
    if least > 1:
        record.append(f"{n} with at least {least} tasks")
    if n == 0:
        most = max(cells.group_by("algorithm").len()["len"].to_list())
        raise ScoreDataError(
            f"expected algorithms with at least {least} tasks; the fullest has {most}"
        )
    return kept


def _check_domain(
    z: FloatArray, transform: Transform, algorithms: Sequence[str], tasks: Sequence[str]
) -> None:
    """Refuse what is no proportion for the logit; warn if most scores are clipped."""
    outside = (z < transform.low) | (z > transform.high)
    if np.isfinite(transform.high) and outside.any():
        i, j = np.argwhere(outside)[0]
        raise ScoreDataError(
            f"expected scores from {transform.low:g} to {transform.high:g} for the transform "
            f"{transform.name}; found {z[i, j]:.4g} of {algorithms[i]} on {tasks[j]}"
        )
    share = outside.sum() / np.isfinite(z).sum()
    if share > 0.5:
        text = (
            f"the transform {transform.name} takes {share:.0%} of the scores for "
            f"{transform.low:g}; normalise them, or take another transform"
        )
        warnings.warn(text, DegenerateScoresWarning, stacklevel=3)


def _without_constant_tasks(data: PreparedScores) -> PreparedScores:
    """Return the same without candidates that tell algorithms nothing apart; name these."""
    varies = data.varies(data.candidates)
    if varies.all() or not varies.any():
        return data
    constant = [task for task, v in zip(data.candidates, varies, strict=True) if not v]
    shown = listed(constant, _MOST_SHOWN)
    text = f"{counted(len(constant), 'task')} left out, all scores are the same: {shown}"
    warnings.warn(text, DegenerateScoresWarning, stacklevel=3)
    kept = tuple(task for task in data.candidates if task not in set(constant))
    return replace(data, candidates=kept, record=(*data.record, text))


def _matrices(cells: pl.DataFrame) -> tuple[Any, ...]:
    """Return the names in order, and the three columns of cells as matrices with gaps."""
    algorithms = tuple(sorted(cells["algorithm"].unique().to_list()))
    tasks = tuple(sorted(cells["task"].unique().to_list()))
    row = {a: i for i, a in enumerate(algorithms)}
    column = {t: i for i, t in enumerate(tasks)}
    at = ([row[a] for a in cells["algorithm"]], [column[t] for t in cells["task"]])
    matrices = []
    for name in ("z", "z_last", "x"):
        matrix = np.full((len(algorithms), len(tasks)), np.nan)
        matrix[at] = cells[name].to_numpy()
        matrices.append(matrix)
    return algorithms, tasks, *matrices


def _with_references(
    rows: pl.DataFrame, references: References | None, record: list[str]
) -> pl.DataFrame:
    """Return the rows of the tasks that can be normalised, and say which cannot."""
    if references is None:
        return rows
    tasks = rows["task"].unique(maintain_order=True).to_list()
    known = [task for task in tasks if task in references]
    for task in known:
        _check_reference(task, *references[task])
    if len(known) == len(tasks):
        return rows
    without = [task for task in tasks if task not in references]
    shown = f"without reference scores: {listed(without, _MOST_SHOWN)}"
    if not known:
        raise ScoreDataError(f"expected reference scores of some task; all are {shown}")
    record.append(f"{counted(len(without), 'task')} left out, {shown}")
    warnings.warn(record[-1], DegenerateScoresWarning, stacklevel=4)
    return rows.filter(pl.col("task").is_in(known))


def _check_reference(task: str, random: float, human: float) -> None:
    if not (np.isfinite(random) and np.isfinite(human)):
        raise ScoreDataError(
            f"reference scores of {task}: expected numbers, found {random}, {human}"
        )
    if human == random:
        raise ScoreDataError(
            f"reference scores of {task}: expected human and random to differ, both are {human:g}"
        )
