"""Preparation of scores for a linear model: one row per algorithm, transformed, with a target."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, log
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from gnomon.distillation.factor import fit_factor
from gnomon.errors import ScoreDataError, UnknownNameError, check_word, counted, listed, note
from gnomon.scores.columns import Rows
from gnomon.scores.normalization import with_left_out
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.intervals import PRIOR_DF

_YEAR = re.compile(r"\d{4}")
#: If a larger share of the cells is missing, summaries over different tasks are not comparable;
#: above the second share the error about doubles. The last is the number of completed suites.
_SPARSE, _VERY_SPARSE, _N_COMPLETIONS = 0.1, 0.5, 120
#: Least number of scores of a candidate, and of an algorithm; of algorithms that two tasks share.
_LEAST_SCORES, _LEAST_OWN, _LEAST_TOGETHER = 8, 3, 3
#: Random halves of the tasks, over which a summary is smoothed.
_N_HALVES = 100


@dataclass(frozen=True)
class Transform:
    """A monotone function applied to every score before a linear model is fitted.

    A difference after the transform is the logarithm, of base `log_base`, of a ratio, if that is
    given. Scores below `low` are treated as equal to it.
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
    """Return the transform of a name: ``log``, log10(1 + max(0, z)), or ``identity``."""
    check_word("transform", name, _TRANSFORMS)
    return _TRANSFORMS[name]


def summary_of(z: FloatArray, summary: str, transform: Transform) -> FloatArray:
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


def summaries_of(
    z: FloatArray, summary: str, transform: Transform
) -> tuple[FloatArray, FloatArray]:
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
            whole[i] = summary_of(own, summary, transform)
            smoothed[i] = transform.forward(summary_of(halves, summary, transform)).mean()
    return whole, smoothed


@dataclass(frozen=True, eq=False)
class PreparedScores:
    """Scores as a linear model uses them: one row per algorithm, one column per task.

    Rows and columns are sorted by name, on which the folds of a cross-validation depend.

    `x` has the transformed scores, NaN where missing, `target` the transformed summaries, and
    `smoothed` their means over random halves of the tasks. `candidates` are the tasks that a subset
    may contain, `groups` the paper or family of each algorithm (its own name if unknown),
    `references` the scores that became 0 and 100, `years` the dates of publication. Where most
    scores have several runs, `n_runs` is their median number and `run_variances` the variance of
    the transformed scores between runs of each task, shrunk towards the pooled variance.
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
    references: Mapping[str, tuple[float, float]] | None = None
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
    exclude: Sequence[str]
    group_by: str | None
    date_by: str | None


def prepare(
    scores: ScoreTable,
    *,
    transform: str = "log",
    summary: str = "median",
    exclude: Sequence[str] = (),
    group_by: str | None = None,
    date_by: str | None = None,
) -> PreparedScores:
    """Return scores as a linear model uses them: transformed, with a target.

    Scores on a common scale (:func:`gnomon.normalize`) count in percent. Several runs of a cell
    are averaged. Excluded tasks are no candidates, but count in the summary.
    If more than 10 % of the cells are missing, the target of an algorithm is the mean summary of
    120 completed suites, drawn from the distribution of its missing tasks given the others. To
    leave out algorithms, select the others in the table.

    Parameters
    ----------
    scores : ScoreTable
        Of learning curves the last common step is used.
    transform : {"log", "identity"}
        ``log`` is log10(1 + max(0, z)).
    summary : {"median", "mean", "iqm", "mean_log"}
        What to predict, over the tasks of an algorithm.
    exclude : sequence of str
        Tasks that are no candidates.
    group_by, date_by : str, optional
        Columns of the table with the paper or family of an algorithm, and with its year or date of
        publication.

    Returns
    -------
    PreparedScores
        Its ``x`` is an array (algorithms, tasks) of transformed scores, NaN where missing; its
        ``target`` has the transformed summary of each algorithm. Rows and columns are sorted by
        name.

    Raises
    ------
    ScoreDataError
        No score is left, the tasks are items of an evaluation, or too few algorithms share tasks.
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
    if scores.units == "items":
        raise ScoreDataError(
            "expected a suite of tasks, found items of an evaluation; read them with units 'tasks' "
            "to choose among them"
        )
    table, scale = table_of(scores), transform_of(transform)
    known = with_left_out(table).tasks  # those that have no anchors are no candidates anyhow
    for task in exclude:
        if task not in known:
            raise UnknownNameError("task", task, known)
    rows, scaled = _usable_rows(table), table.normalization
    if scaled is not None:
        rows = rows.with_columns({"score": 100.0 * rows["score"]})
    algorithms, tasks = (tuple(sorted(rows[column].names)) for column in ("algorithm", "task"))
    i, j = (
        rows[column].mapped([found.index(name) for name in rows[column].names], 0)
        for found, column in ((algorithms, "algorithm"), (tasks, "task"))
    )
    shape = len(algorithms), len(tasks)

    def summed(values: FloatArray) -> FloatArray:
        """Return the sums over the runs of each cell."""
        sums = np.zeros(shape)
        np.add.at(sums, (i, j), values)
        return sums

    n = summed(np.ones(len(rows)))
    with np.errstate(invalid="ignore"):
        z = summed(rows["score"]) / n
    share = (z < scale.low).sum() / np.isfinite(z).sum()
    if share > 0.5:
        note(
            f"{100 * share:.0f} % of the scores are below {scale.low:g}, which the transform "
            f"{transform} maps to one value; normalise the scores or use 'identity'"
        )
    n_runs, run_variances = None, None
    if np.median(n[n > 0]) >= 2:
        n_runs, each = float(np.median(n[n > 0])), scale.forward(rows["score"])
        squares = summed((each - (summed(each) / np.maximum(n, 1))[i, j]) ** 2).sum(axis=0)
        df = np.maximum(n - 1, 0).sum(axis=0)
        run_variances = (squares + PRIOR_DF * squares.sum() / df.sum()) / (df + PRIOR_DF)
    values, smoothed = summaries_of(z, summary, scale)
    groups, dates = (_entries(rows, column, algorithms) for column in (group_by, date_by))
    years = None if dates is None else np.array([*map(_year, dates)])
    if dates is not None and years is not None and np.all(np.isnan(years)):
        raise ScoreDataError(
            f"column {date_by!r}: expected years or dates, found {listed(sorted({*dates}), 3)}"
        )
    prepared = PreparedScores(
        algorithms=algorithms,
        tasks=tasks,
        x=scale.forward(z),
        target=scale.forward(values),
        smoothed=smoothed,
        candidates=tuple(task for task in tasks if task not in exclude),
        groups=algorithms if groups is None else tuple(groups),
        transform=scale,
        summary=summary,
        references=None if scaled is None else scaled.anchors,
        years=years,
        n_runs=n_runs,
        run_variances=run_variances,
        normalized="" if scaled is None else scaled.name,
    )
    return _completed(_without_constant_tasks(prepared))


def prepared_scores(scores: Scores | PreparedScores, options: PreparationOptions) -> PreparedScores:
    """Return scores that are prepared already, which take no options, or prepare them."""
    if not isinstance(scores, PreparedScores):
        return prepare(table_of(scores), **options)
    if options:
        raise TypeError(f"expected a ScoreTable for {next(iter(options))}; this is prepared")
    return scores


def _usable_rows(table: ScoreTable) -> Rows:
    """Return the rows with a finite score."""
    score = table.effective_scores
    rows = table.rows.take(np.isfinite(score))
    n_lost = int(np.isinf(score).sum())
    if n_lost:
        note(f"{n_lost} censored or infinite scores are treated as missing")
    if not len(rows):
        raise ScoreDataError("expected scores to distil; all are missing")
    if table.run_counts.max() == 1 and np.isin(rows["score"], (0.0, 1.0)).all():
        note("every score is 0 or 1: a single item of an evaluation predicts little")
    return rows


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
    note(f"{counted(len(constant), 'task')} left out, all scores are the same: {listed(constant)}")
    return replace(data, candidates=tuple(t for t in data.candidates if t not in constant))


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
        return transform.forward(summary_of(scores, data.summary, transform))

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
    note(text)
    return replace(data, candidates=candidates, target=target, smoothed=smoothed)
