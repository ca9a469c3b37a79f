"""Preparation of scores for a linear model: filters, normalisation, summary, transform."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import Literal, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from gnomon.distillation.factor import fit_factor
from gnomon.errors import (
    DegenerateScoresWarning,
    ScoreDataError,
    UnknownNameError,
    check_word,
    counted,
    listed,
)
from gnomon.scores.columns import Rows
from gnomon.scores.steps import at_common_step
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.intervals import PRIOR_DF

#: Scores of two reference policies on each task, which become 0 and 100.
References = Mapping[str, tuple[float, float]]

_YEAR = re.compile(r"\d{4}")
#: If a larger share of the cells is missing, the summary of the other tasks is not comparable.
_SPARSE, _VERY_SPARSE, _N_COMPLETIONS = 0.1, 0.5, 120
#: Random halves of the tasks, over which a summary is smoothed.
_N_HALVES = 100
#: Fewest scores of a candidate and of an algorithm, and fewest algorithms of a pair of tasks.
_LEAST_SCORES, _LEAST_OWN, _LEAST_TOGETHER = 8, 3, 3


@dataclass(frozen=True)
class Transform:
    """A monotone function applied to every score before a linear model is fitted.

    Parameters
    ----------
    name : str
    forward, inverse : function of an array
    log_base : float, optional
        The base, if a difference after the transform is the logarithm of a ratio.
    low : float
        Scores below it are treated as equal to it.
    """

    name: str
    forward: Callable[[FloatArray], FloatArray]
    inverse: Callable[[FloatArray], FloatArray]
    log_base: float | None = None
    low: float = -inf

    def relative_errors(self, predicted: FloatArray, true: FloatArray) -> FloatArray:
        """Return the signed relative errors of transformed predictions.

        For a logarithm this is ln(base) times the residual, which approximates the relative error
        (Aitchison et al. 2022, appendix G); otherwise it is the relative error of the scores.

        Examples
        --------
        >>> error = transform_of("log").relative_errors(np.array([2.05]), np.array([2.0]))
        >>> round(float(error[0]), 3)
        0.115
        """
        if self.log_base is not None:
            return (predicted - true) * log(self.log_base)
        scores = self.inverse(true)
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.inverse(predicted) - scores) / np.abs(scores)


_TRANSFORMS = {
    "log": Transform(
        "log",
        lambda z: np.log10(1.0 + np.maximum(z, 0.0)),
        lambda x: np.power(10.0, x) - 1.0,
        log_base=10.0,
        low=0.0,
    ),
    "identity": Transform("identity", lambda z: z, lambda x: x),
}
_SUMMARIES = ("median", "mean", "iqm", "mean_log")


def transform_of(name: str) -> Transform:
    """Return the transform of a name.

    ``log`` is log10(1 + max(0, z)), for scores that differ by orders of magnitude; ``identity``
    changes nothing, for scores that are comparable as they are, such as accuracies.

    Raises
    ------
    UnknownWordError
        There is no such transform.

    Examples
    --------
    >>> transform_of("log").forward(np.array([-5.0, 0.0, 99.0]))
    array([0., 0., 2.])
    """
    check_word("transform", name, _TRANSFORMS)
    return _TRANSFORMS[name]


def _summary(z: FloatArray, summary: str, transform: Transform) -> FloatArray:
    """Return the summary of scores without gaps, (..., tasks)."""
    check_word("summary", summary, _SUMMARIES)
    if summary == "median":
        return np.asarray(np.median(z, axis=-1))
    if summary == "mean_log":
        return transform.inverse(transform.forward(z).mean(axis=-1))
    if summary == "iqm":
        cut = z.shape[-1] // 4
        z = np.sort(z, axis=-1)[..., cut : z.shape[-1] - cut]
    return np.asarray(z.mean(axis=-1))


def _summaries(z: FloatArray, summary: str, transform: Transform) -> tuple[FloatArray, FloatArray]:
    """Return the summary of each row's own scores, and its smoothed form, transformed.

    A median depends on one or two tasks, its mean over random halves of the tasks on all of them.
    """
    rng = np.random.default_rng(0)
    whole, smoothed = np.full((2, len(z)), np.nan)
    for i, row in enumerate(z):
        own = row[~np.isnan(row)]
        if own.size:
            order = rng.random((_N_HALVES, own.size)).argsort(axis=1)
            halves = own[order[:, : max(1, own.size // 2)]]
            whole[i] = _summary(own, summary, transform)
            smoothed[i] = transform.forward(_summary(halves, summary, transform)).mean()
    return whole, smoothed


@dataclass(frozen=True, eq=False)
class PreparedScores:
    """Scores as a linear model uses them: one row per algorithm, one column per task.

    Rows and columns are sorted by name, on which the folds of a cross-validation depend.

    Parameters
    ----------
    algorithms, tasks : tuple of str
    x : ndarray of float, shape (algorithms, tasks)
        Transformed scores, NaN where missing.
    target : ndarray of float, shape (algorithms,)
        The transformed summary.
    smoothed : ndarray of float, shape (algorithms,)
        The mean transformed summary of random halves of the tasks.
    candidates : tuple of str
        Tasks that a subset may contain.
    groups : tuple of str
        The paper or family of each algorithm; its own name if unknown.
    transform : Transform
    summary : str
        What the target is.
    references : mapping from task to (random, human), optional
        Scores that became 0 and 100.
    record : tuple of str
        What was done, in order.
    years : ndarray of float, shape (algorithms,), optional
        When each algorithm was published; NaN if unknown.
    n_runs : float, optional
        Median number of runs of a score, if most scores have several.
    run_variances : ndarray of float, shape (tasks,), optional
        Variance of the transformed scores between runs, shrunk towards the pooled variance.
    normalized : str
        How the scores were normalised, if they were.

    Examples
    --------
    >>> from gnomon.distillation import prepare
    >>> from gnomon.scores import load_scores
    >>> data = prepare(load_scores("gohr-full"), transform="identity", summary="mean")
    >>> data.x.shape, data.rows([0, 1]).x.shape
    ((42, 90), (2, 90))
    """

    algorithms: tuple[str, ...]
    tasks: tuple[str, ...]
    x: FloatArray
    target: FloatArray
    smoothed: FloatArray
    candidates: tuple[str, ...]
    groups: tuple[str, ...]
    transform: Transform
    summary: str = "median"
    references: References | None = None
    record: tuple[str, ...] = ()
    years: FloatArray | None = None
    n_runs: float | None = None
    run_variances: FloatArray | None = None
    normalized: str = ""

    def columns(self, tasks: Sequence[str]) -> npt.NDArray[np.int64]:
        """Return the columns of some tasks; an unknown task is an error."""
        place = {task: i for i, task in enumerate(self.tasks)}
        for task in tasks:
            if task not in place:
                raise UnknownNameError("task", task, self.tasks)
        return np.array([place[task] for task in tasks], dtype=np.int64)

    def rows(self, chosen: npt.ArrayLike) -> PreparedScores:
        """Return some of the rows, given as a mask or as numbers."""
        picked = np.asarray(chosen)
        index = np.flatnonzero(picked) if picked.dtype == bool else picked.astype(np.int64)
        return replace(
            self,
            algorithms=tuple(self.algorithms[i] for i in index),
            groups=tuple(self.groups[i] for i in index),
            x=self.x[index],
            target=self.target[index],
            smoothed=self.smoothed[index],
            years=None if self.years is None else self.years[index],
        )

    def varies(self, tasks: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return for each task whether two algorithms have different scores on it."""
        x = self.x[:, self.columns(tasks)]
        low = np.where(np.isnan(x), np.inf, x).min(axis=0, initial=np.inf)
        high = np.where(np.isnan(x), -np.inf, x).max(axis=0, initial=-np.inf)
        # A difference whose square underflows is none for a sum of squares.
        return np.asarray(np.square(np.maximum(high - low, 0.0)) > 0.0)

    def check_target(self) -> None:
        """Raise an error if all algorithms have the same summary."""
        y = self.target[~np.isnan(self.target)]
        if y.size and np.ptp(y) ** 2 > 0.0:
            return
        low, hint = self.transform.low, ""
        if np.isfinite(low) and bool((y <= self.transform.forward(np.array(low))).all()):
            hint = f": the transform {self.transform.name} maps all scores up to {low:g} to one"
        found = f"all {y.size} have {y[0]:.4g}" if y.size else "there are none"
        raise ScoreDataError(f"expected algorithms whose summaries differ; {found}{hint}")


class PreparationOptions(TypedDict, total=False):
    """The options of :func:`prepare`."""

    transform: str
    summary: str
    references: References | None
    least_tasks: int
    least_algorithms: int
    least_summary: float | None
    exclude: Sequence[str]
    group_by: str | None
    date_by: str | None
    runs: Literal["scores", "transformed"]


def prepare(
    scores: ScoreTable | PreparedScores, **options: Unpack[PreparationOptions]
) -> PreparedScores:
    """Return scores as a linear model uses them: filtered, normalised, transformed, with a target.

    Algorithms with too few tasks are dropped first; then follow normalisation, the summary, and
    the filter by summary. Tasks with too few algorithms and excluded ones are no candidates, but
    count in the summary. If more than 10 % of the cells are missing, the target of an algorithm is
    the mean summary of 120 completed suites, drawn from the distribution of its missing tasks
    given the others.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        Of learning curves, the last common step. Prepared scores are returned as they are.
    **options
        Keywords, of a table that is not prepared yet:

        * ``transform``: ``"log"``, the default, is log10(1 + max(0, z)); or ``"identity"``.
        * ``summary``: what to predict, over the tasks of an algorithm: ``"median"`` (default),
          ``"mean"``, ``"iqm"`` or ``"mean_log"``.
        * ``references``: a mapping from task to (random, human); scores become
          100 (x - random) / (human - random), and other tasks are dropped.
        * ``least_tasks``, ``least_algorithms``: fewest tasks of an algorithm (1), fewest algorithms
          of a candidate task (1).
        * ``least_summary``: algorithms must exceed it.
        * ``exclude``: tasks that are no candidates.
        * ``group_by``, ``date_by``: columns of the table with the paper or family of an algorithm,
          and its year or date of publication.
        * ``runs``: how several runs become one number: ``"scores"`` (default), the mean of the
          scores; or ``"transformed"``, as in the code of the Atari-5 paper, the mean of the
          transformed scores, with the summary of the last run.

    Returns
    -------
    PreparedScores

    Raises
    ------
    ScoreDataError
        No score is left, the tasks are items of an evaluation, a reference score is unusable, or
        too few algorithms share tasks.
    UnknownNameError
        A column, an excluded task, a summary or a transform does not exist.

    Warns
    -----
    DegenerateScoresWarning
        Scores, tasks or algorithms were left out, or the table is sparse.

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
            "expected a suite of tasks, found items of an evaluation; to choose among the tasks of "
            "this table, read it with units='tasks'"
        )
    return _prepared(at_common_step(scores), **options)


def _prepared(
    table: ScoreTable,
    *,
    transform: str = "log",
    summary: str = "median",
    references: References | None = None,
    least_tasks: int = 1,
    least_algorithms: int = 1,
    least_summary: float | None = None,
    exclude: Sequence[str] = (),
    group_by: str | None = None,
    date_by: str | None = None,
    runs: Literal["scores", "transformed"] = "scores",
) -> PreparedScores:
    check_word("runs", runs, ("scores", "transformed"))
    scale, record = transform_of(transform), [*table.provenance]
    for task in exclude:
        if task not in table.tasks:
            raise UnknownNameError("task", task, table.tasks)
    rows = _usable_rows(table)
    record.append(f"{len(table.algorithms)} algorithms")
    if references is not None:
        rows = _normalized(rows, references, record)
    rows = _with_least_tasks(rows, least_tasks, record)
    cells = _Cells(rows, scale)
    share = (cells.mean < scale.low).sum() / np.isfinite(cells.mean).sum()
    if share > 0.5:
        _warn(
            f"{100 * share:.0f} % of the scores are below {scale.low:g}, which the transform "
            f"{transform} maps to one value; normalise the scores or use 'identity'"
        )
    z = cells.mean if runs == "scores" else cells.last
    x = scale.forward(cells.mean) if runs == "scores" else cells.transformed
    values = _summaries(z, summary, scale)[0]
    keep = np.ones(len(values), dtype=bool)
    if least_summary is not None:
        keep = values > least_summary
        record.append(f"{keep.sum()} with a summary above {least_summary:g}")
        if not keep.any():
            raise ScoreDataError(
                f"expected algorithms whose summary is above {least_summary:g}; "
                f"the greatest is {np.nanmax(values):.4g}"
            )
    n = dict(zip(cells.tasks, (~np.isnan(x[keep])).sum(axis=0).tolist(), strict=True))
    able = [task for task in cells.tasks if n[task] >= least_algorithms and task not in exclude]
    record.append(
        f"{len(able)} of {len(n)} tasks with at least {least_algorithms} algorithms are candidates"
    )
    record.append(f"target: {summary} over the tasks of an algorithm; transform: {transform}")
    algorithms = tuple(name for name, k in zip(cells.algorithms, keep, strict=True) if k)
    groups, dates = (_entries(rows, column, algorithms) for column in (group_by, date_by))
    how = "" if table.normalization is None else table.normalization.name
    prepared = PreparedScores(
        algorithms=algorithms,
        tasks=cells.tasks,
        x=np.ascontiguousarray(x[keep]),
        target=scale.forward(values[keep]),
        smoothed=_summaries(z[keep], summary, scale)[1],
        candidates=tuple(able),
        groups=algorithms if groups is None else tuple(groups),
        transform=scale,
        summary=summary,
        references=references,
        record=tuple(record),
        years=None if dates is None else np.array([*map(_year, dates)]),
        n_runs=cells.n_runs,
        run_variances=cells.run_variances,
        normalized="references" if references is not None else how,
    )
    return _completed(_without_constant_tasks(prepared))


def _usable_rows(table: ScoreTable) -> Rows:
    """Return the rows with a finite score."""
    score = table.effective_scores
    rows = table.rows.take(np.isfinite(score))
    n_lost = int(np.isinf(score).sum())
    if n_lost:
        _warn(f"{n_lost} censored or infinite scores are treated as missing")
    if not len(rows):
        raise ScoreDataError("expected scores to distil; all are missing")
    if table.run_counts.max() == 1 and np.isin(rows["score"], (0.0, 1.0)).all():
        _warn("every score is 0 or 1: a single item of an evaluation predicts little")
    return rows


def _normalized(rows: Rows, references: References, record: list[str]) -> Rows:
    """Return the rows of the tasks that have references, normalised."""
    tasks = rows["task"]
    ends = [references.get(task, (np.nan, np.nan)) for task in tasks.names]
    for task, (low, high) in zip(tasks.names, ends, strict=True):
        if task in references and not (np.isfinite(low) and np.isfinite(high) and low != high):
            raise ScoreDataError(
                f"reference scores of {task}: expected two different numbers, found {low}, {high}"
            )
    without = [task for task in tasks.names if task not in references]
    if len(without) == len(tasks.names):
        raise ScoreDataError(f"expected reference scores of some task; none of {listed(without)}")
    if without:
        record.append(f"{counted(len(without), 'task')} without references: {listed(without)}")
        _warn(f"left out {record[-1]}")
    record.append("normalised: 0 is random, 100 is human")
    low, high = np.array(ends, dtype=np.float64)[tasks.codes].T
    scaled = rows.with_columns({"score": 100.0 * (rows["score"] - low) / (high - low)})
    return scaled.take(tasks.isin(references))


def _with_least_tasks(rows: Rows, least: int, record: list[str]) -> Rows:
    algorithm, task = rows["algorithm"], rows["task"]
    there = np.zeros((len(algorithm.names), len(task.names)), dtype=bool)
    there[algorithm.codes, task.codes] = True
    n = there.sum(axis=1)
    if n.max() < least:
        raise ScoreDataError(
            f"expected algorithms with at least {least} tasks; none has more than {n.max()}"
        )
    if least > 1:
        record.append(f"{(n >= least).sum()} with at least {least} tasks")
    return rows.take(n[algorithm.codes] >= least)


class _Cells:
    """Runs of each cell as matrices (algorithms, tasks), NaN where there is none.

    They are the mean score, the last one, and the mean transformed one; beside them stand the
    median number of runs and the variances between runs, if most cells have several.
    """

    def __init__(self, rows: Rows, transform: Transform) -> None:
        names = [sorted(rows[column].names) for column in ("algorithm", "task")]
        self.algorithms, self.tasks = map(tuple, names)
        i, j = (
            np.array([found.index(name) for name in rows[column].names])[rows[column].codes]
            for found, column in zip(names, ("algorithm", "task"), strict=True)
        )
        z, shape = rows["score"], (len(self.algorithms), len(self.tasks))
        x = transform.forward(z)

        def summed(values: FloatArray) -> FloatArray:
            sums = np.zeros(shape)
            np.add.at(sums, (i, j), values)
            return sums

        n = summed(np.ones_like(z))
        self.last = np.full(shape, np.nan)
        self.last[i, j] = z
        with np.errstate(invalid="ignore"):
            self.mean, self.transformed = summed(z) / n, summed(x) / n
        self.n_runs: float | None = None
        self.run_variances: FloatArray | None = None
        if np.median(n[n > 0]) >= 2:
            self.n_runs = float(np.median(n[n > 0]))
            squares = summed((x - self.transformed[i, j]) ** 2).sum(axis=0)
            df = np.maximum(n - 1, 0).sum(axis=0)
            prior = PRIOR_DF * squares.sum() / df.sum()
            self.run_variances = (squares + prior) / (df + PRIOR_DF)


def _entries(rows: Rows, column: str | None, algorithms: Sequence[str]) -> list[str] | None:
    """Return the first entry of a column for each algorithm; None if no column is given."""
    if column is None:
        return None
    if column not in rows:
        raise UnknownNameError("column", column, rows.names)
    pairs = zip(rows.tolist("algorithm"), rows.texts(column).tolist(), strict=True)
    first = dict(reversed([*pairs]))
    return [str(first[name]) for name in algorithms]


def _year(entry: str) -> float:
    """Return the year with which a number, a date or a text begins; NaN otherwise."""
    found = _YEAR.match(entry)
    return float(found.group()) if found else float("nan")


def _without_constant_tasks(data: PreparedScores) -> PreparedScores:
    """Return the same without candidates on which all algorithms are equal."""
    varies = data.varies(data.candidates)
    if varies.all() or not varies.any():
        return data
    constant = [task for task, v in zip(data.candidates, varies, strict=True) if not v]
    text = f"{counted(len(constant), 'task')} left out, all scores are the same: {listed(constant)}"
    _warn(text)
    kept = tuple(task for task in data.candidates if task not in set(constant))
    return replace(data, candidates=kept, record=(*data.record, text))


def _completed(data: PreparedScores) -> PreparedScores:
    """Return a sparse table with the mean summaries of completed suites as target."""
    seen = ~np.isnan(data.x)
    missing = float(1.0 - seen.mean())
    if missing <= _SPARSE or len(data.tasks) < _LEAST_OWN or len(data.algorithms) < _LEAST_SCORES:
        return data
    together = (seen.T.astype(np.float64) @ seen)[np.triu_indices(len(data.tasks), 1)]
    if np.mean(together < _LEAST_TOGETHER) > 0.5:
        raise ScoreDataError(
            f"expected pairs of tasks with at least {_LEAST_TOGETHER} algorithms in common; "
            f"{100 * np.mean(together < _LEAST_TOGETHER):.0f} % of the pairs have fewer"
        )
    data = data.rows(seen.sum(axis=1) >= _LEAST_OWN)
    enough = set(np.array(data.tasks)[(~np.isnan(data.x)).sum(axis=0) >= _LEAST_SCORES].tolist())
    candidates = tuple(task for task in data.candidates if task in enough)
    if not candidates:
        raise ScoreDataError(f"expected tasks with at least {_LEAST_SCORES} algorithms")
    x, varies = data.x, data.varies(data.tasks)
    moments = fit_factor(x[:, varies])
    mean, covariance = moments.mean, moments.covariance
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((_N_COMPLETIONS, mean.size)) @ np.linalg.cholesky(covariance).T
    suites = np.tile(np.nanmax(x, axis=0), (_N_COMPLETIONS, 1))
    halves = rng.random(suites.shape).argsort(axis=1)[:, : max(1, len(data.tasks) // 2)]
    transform = data.transform
    low = transform.forward(np.array(transform.low)) if np.isfinite(transform.low) else -np.inf

    def summarized(drawn: FloatArray) -> FloatArray:
        scores = transform.inverse(np.maximum(drawn, low))
        return transform.forward(_summary(scores, data.summary, transform))

    target, smoothed, variance = np.empty((3, len(x)))
    for i, row in enumerate(x[:, varies]):
        known = np.flatnonzero(~np.isnan(row))
        off = row[known] - mean[known] - noise[:, known]
        slopes = np.linalg.solve(covariance[np.ix_(known, known)], covariance[known])
        suites[:, varies] = mean + noise + off @ slopes
        drawn = summarized(suites)
        target[i], variance[i] = drawn.mean(), drawn.var()
        smoothed[i] = summarized(np.take_along_axis(suites, halves, axis=1)).mean()
    text = (
        f"{100 * missing:.0f} % of the scores are missing: summaries are means over completed "
        f"suites, standard deviation {np.sqrt(variance.mean()):.2g} ({data.transform.name})"
    )
    if missing > _VERY_SPARSE:
        text += "; expect about twice the error of a complete table"
    _warn(text)
    record = (*data.record, text)
    return replace(data, candidates=candidates, target=target, smoothed=smoothed, record=record)


def _warn(text: str) -> None:
    warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
