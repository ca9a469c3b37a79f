"""Weights of tasks: weighted means, and how far a difference depends on the weights.

A mean over tasks gives every task the same weight, which is a choice: forty variants of one game
count forty times. Here the weight of a task is named, or follows from giving every family of tasks
the same. A weighted mean of tasks is the plain mean of scores that are multiplied by their task's
weight times the number of tasks, so that all intervals and tests of the mean serve it.

Only means are weighted. A weighted median or interquartile mean has several definitions, none of
them in use for scores of agents, and no interval that was measured.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from gnomon.errors import ScoreDataError, UnknownNameError, counted, listed
from gnomon.results import FieldRecord, Results, Row, generator, recorded
from gnomon.scores.plausibility import warn_of_unlike_scales
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn
from gnomon.stats.comparisons.comparison import SmallMethod, compare
from gnomon.stats.comparisons.comparison_records import Comparison
from gnomon.stats.comparisons.rank_tests import holm
from gnomon.stats.estimate_records import Estimates
from gnomon.stats.estimates import estimate, shared_tasks
from gnomon.stats.intervals import ROUNDING, Method

#: What the metric is called in records.
WEIGHTED_MEAN = "weighted_mean"
#: The attribute that tells families of tasks, if nothing else is named.
FAMILY = "family"

#: A weight for each task, or the attribute whose values are families of equal weight.
Weights = Mapping[str, float] | str


@dataclass(frozen=True, slots=True)
class WeightedComparison(FieldRecord):
    """The difference of two weighted means, and how far it depends on the weights.

    Parameters
    ----------
    a, b, metric, task, value, low, high, p_value, p_adjusted, level, method, n_resamples, mc_error
        As in :class:`~gnomon.stats.comparisons.comparison.Comparison`; `task` is None.
    equal_value : float
        The difference if every task weighs the same.
    family_value : float
        The difference if every family weighs the same; NaN if families are not known.
    least, most : float
        The lowest and the highest difference if one task, or one family, is left out.
    least_without, most_without : str or None
        Which one that is.
    turning_share : float
        The least share of the weight that has to move to other tasks to turn the sign of the
        difference, see :func:`turning_share`; NaN if no weights turn it.

    Examples
    --------
    >>> from gnomon.stats import compare_weighted
    >>> scores = ScoreTable.from_arrays({"a": [[3, 1], [4, 1]], "b": [[1, 2], [2, 2]]})
    >>> (one,) = compare_weighted(scores, {"task_0": 1, "task_1": 1})
    >>> one.value, one.turning_share, one.least_without
    (0.5, 0.16666666666666666, 'task_0')
    """

    a: str
    b: str
    metric: str
    task: str | None
    value: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    level: float
    method: str
    n_resamples: int
    mc_error: float
    equal_value: float
    family_value: float
    least: float
    least_without: str | None
    most: float
    most_without: str | None
    turning_share: float


@dataclass(frozen=True, eq=False, repr=False)
class WeightedComparisons(Results[WeightedComparison]):
    """Comparisons of weighted means; see :func:`compare_weighted`.

    Examples
    --------
    >>> from gnomon.stats import compare_weighted
    >>> scores = ScoreTable.from_arrays({"a": [[3, 1], [4, 1]], "b": [[1, 2], [2, 2]]})
    >>> compare_weighted(scores, {"task_0": 3, "task_1": 1}).settings["weights"]
    {'task_0': 0.75, 'task_1': 0.25}
    """

    columns = (
        *("a", "b", "value", "low", "high", "p_adjusted", "equal_value", "family_value"),
        *("least", "least_without", "most", "most_without", "turning_share"),
    )
    drawn_by = "gnomon.plot.statistics:draw_comparisons"

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b, weighted means over tasks"

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        known = any(row["family_value"] is not None for row in rows)
        return [name for name in self.columns if known or name != "family_value"]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the columns about the weights say."""
        return (
            "equal_value, family_value: with equal weights of tasks, of families; least, most: "
            "with one task or family left out",
            "turning_share: the least share of the weight that has to move for the sign to turn",
            f"p_adjusted: {self.settings['family']}",
        )


def task_weights(scores: ScoreTable, weights: Weights) -> dict[str, float]:
    """Return the weight of each task of a table; they sum to 1.

    Parameters
    ----------
    scores : ScoreTable
        Its tasks are weighted.
    weights : mapping or str
        A weight of at least 0 for each task; or the name of an attribute of the table: each of its
        values is a family of tasks, all families weigh the same, and so do the tasks of one.

    Raises
    ------
    ScoreDataError
        A task has no weight, a weight is not a number of at least 0, none is above 0, or the
        attribute is missing or not the same in all rows of a task.
    UnknownNameError
        The table has no such attribute.

    Warns
    -----
    DegenerateScoresWarning
        Weights are given for tasks that the table does not have.

    Examples
    --------
    >>> games = {"task": ["pong", "qbert", "cartpole"], "family": ["atari", "atari", "control"]}
    >>> runs = {"algorithm": ["a"] * 3, "run": [0] * 3, "score": [1, 2, 3]}
    >>> scores = ScoreTable.from_frame(games | runs)
    >>> task_weights(scores, "family")
    {'pong': 0.25, 'qbert': 0.25, 'cartpole': 0.5}
    """
    return _shares(scores, _told(scores, weights))


def _shares(scores: ScoreTable, weights: Weights) -> dict[str, float]:
    """Return the weights of a table's tasks, which sum to 1; those of others do not count."""
    if isinstance(weights, str):
        return _family_weights(_families(scores, weights))
    missing = [task for task in scores.tasks if task not in weights]
    if missing:
        raise ScoreDataError(f"weights: expected one for each task; none for {listed(missing)}")
    wrong = [task for task in scores.tasks if not 0.0 <= weights[task] < math.inf]
    if wrong:
        found = ", ".join(f"{task} {weights[task]:g}" for task in wrong[:3])
        raise ScoreDataError(f"weights: expected numbers of at least 0, found {found}")
    total = math.fsum(weights[task] for task in scores.tasks)
    if total == 0.0:
        raise ScoreDataError("weights: expected one above 0, found 0 for every task")
    return {task: weights[task] / total for task in scores.tasks}


def _told(scores: ScoreTable, weights: Weights) -> Weights:
    """Return the weights, and say which are of tasks that the table does not have."""
    unknown = [] if isinstance(weights, str) else [t for t in weights if t not in scores.tasks]
    if unknown:
        shown = listed(unknown)
        warn(f"weights of {counted(len(unknown), 'task')} not used, no score is of them: {shown}")
    return weights


def _families(scores: ScoreTable, column: str) -> dict[str, str]:
    """Return the family of each task, from an attribute."""
    if column not in scores.attributes:
        raise UnknownNameError("attribute of the scores", column, scores.attributes)
    found = {}
    for task in scores.tasks:
        values = scores.frame.filter(pl.col("task") == task)[column].unique().to_list()
        if len(values) > 1 or values[0] is None:
            shown = listed(sorted(map(str, values)))
            raise ScoreDataError(
                f"task {task}, column {column!r}: expected one family, found {shown}"
            )
        found[task] = str(values[0])
    return found


def _family_weights(families: Mapping[str, str]) -> dict[str, float]:
    """Return weights that are equal for all families, and inside each for its tasks."""
    sizes = Counter(families.values())
    return {task: 1.0 / len(sizes) / sizes[family] for task, family in families.items()}


def _weighted(scores: ScoreTable, weights: Mapping[str, float]) -> ScoreTable:
    """Return scores whose plain mean is the weighted one; tasks without weight are left out."""
    kept = scores.select(tasks=[task for task in scores.tasks if weights[task] > 0.0])
    factors = {task: weights[task] * len(kept.tasks) for task in kept.tasks}
    factor = pl.col("task").replace_strict(factors, return_dtype=pl.Float64)
    weighted = kept.frame.with_columns(pl.col("score") * factor)
    # What tasks measure was looked at before; a product with a weight says nothing of their scales.
    return replace(kept, frame=weighted, unit=kept.unit or "weighted")


def estimate_weighted(
    scores: ScoreTable,
    weights: Weights,
    *,
    level: float = 0.95,
    method: Method = "auto",
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> Estimates:
    """Estimate the weighted mean over tasks of every algorithm, with intervals.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run; the tasks that all algorithms have are taken.
    weights : mapping or str
        As in :func:`task_weights`.
    level, method, n_resamples, rng
        As in :func:`~gnomon.stats.estimates.estimate`.

    Returns
    -------
    Estimates
        Of the metric ``weighted_mean``.

    Raises
    ------
    ScoreDataError, UnknownNameError
        As in :func:`task_weights` and :func:`estimate`.

    Examples
    --------
    >>> scores = ScoreTable.from_arrays({"a": [[1.0, 5.0], [3.0, 6.0]]})
    >>> estimate_weighted(scores, {"task_0": 3, "task_1": 1})[0].value
    2.875
    """
    with recorded() as notes:
        kept = scores.select(tasks=shared_tasks(scores))
        shares = _shares(kept, _told(scores, weights))
        warn_of_unlike_scales(kept, ["mean"])
        found = estimate(
            _weighted(kept, shares),
            "mean",
            level=level,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
        )
    records = tuple(replace(one, metric=WEIGHTED_MEAN) for one in found)
    return Estimates(records, {**found.settings, "weights": shares}, tuple(notes))


def compare_weighted(
    scores: ScoreTable,
    weights: Weights,
    a: str | None = None,
    b: str | None = None,
    *,
    paired: bool = False,
    level: float = 0.95,
    method: SmallMethod = "auto",
    n_resamples: int = 2000,
    rng: np.random.Generator | int | None = None,
) -> WeightedComparisons:
    """Compare weighted means of algorithms, and say how far the answer depends on the weights.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run; each pair is compared on the tasks that both have.
    weights : mapping or str
        As in :func:`task_weights`. Families are those of this attribute, or of the attribute
        ``family`` if the table has one.
    a, b : str, optional
        The algorithms; without them every pair, p-values corrected by Holm's steps.
    paired, level, method, n_resamples, rng
        As in :func:`~gnomon.stats.comparisons.comparison.compare`.

    Returns
    -------
    WeightedComparisons

    Raises
    ------
    ScoreDataError, UnknownNameError
        As in :func:`task_weights` and :func:`compare`.

    Warns
    -----
    DegenerateScoresWarning
        As in :func:`compare`; or no weights turn the sign, for one algorithm is better on every
        task that counts.

    Examples
    --------
    >>> scores = ScoreTable.from_arrays({"a": [[3, 1], [4, 1.5]], "b": [[1, 2], [2, 3]]})
    >>> (one,) = compare_weighted(scores, {"task_0": 1, "task_1": 1}, "a", "b")
    >>> one.value, one.least, one.most
    (0.375, -1.25, 2.0)
    """
    pairs = list(combinations(scores.algorithms, 2)) if a is None or b is None else [(a, b)]
    if not pairs:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    by = weights if isinstance(weights, str) else FAMILY if FAMILY in scores.attributes else None
    options: dict[str, Any] = {"paired": paired, "level": level, "method": method}
    options |= {"n_resamples": n_resamples, "rng": generator(rng)}
    found: list[tuple[Comparison, dict[str, Any]]] = []
    with recorded() as notes:
        given = _told(scores, weights)
        warn_of_unlike_scales(scores, ["mean"], algorithms=sorted({*sum(pairs, ())}))
        for pair in pairs:
            both = scores.select(algorithms=pair)
            kept = both.select(tasks=shared_tasks(both))
            shares = _shares(kept, given)
            compared = compare(_weighted(kept, shares), *pair, "mean", **options)
            families = _families(kept, by) if by else None
            found.append((compared[0], _dependence(kept, pair, shares, families)))
    adjusted = holm([one.p_value for one, _ in found])
    records = tuple(
        WeightedComparison(
            **asdict(replace(one, metric=WEIGHTED_MEAN, p_adjusted=float(p))), **depends
        )
        for (one, depends), p in zip(found, adjusted, strict=True)
    )
    settings = {**compared.settings, "weights": shares if len(pairs) == 1 else weights}
    if len(pairs) > 1:
        settings["family"] = f"Holm's correction over {counted(len(pairs), 'pair')}"
    return WeightedComparisons(records, settings, tuple(notes))


def _dependence(
    scores: ScoreTable,
    pair: tuple[str, str],
    weights: Mapping[str, float],
    families: Mapping[str, str] | None,
) -> dict[str, Any]:
    """Return the fields that say how the difference depends on the weights."""
    w = np.array([weights[task] for task in scores.tasks])
    of_a, of_b = (
        np.array([scores.runs(name, task).mean() for task in scores.tasks]) for name in pair
    )
    with np.errstate(invalid="ignore"):
        d = of_a - of_b
    left_out = dict(_left_out(scores.tasks, families, w, d))
    least = min(left_out, key=lambda name: left_out[name], default=None)
    most = max(left_out, key=lambda name: left_out[name], default=None)
    share = turning_share(w, d)
    if math.isnan(share) and np.isfinite(d).all():
        warn(f"{pair[0]} and {pair[1]}: no weights turn the sign of the difference")
    by_family = list(_family_weights(families).values()) if families else np.full(d.size, np.nan)
    return {
        "equal_value": float(np.mean(d)),
        "family_value": float(np.dot(by_family, d)),
        "least": left_out[least] if least is not None else math.nan,
        "least_without": least,
        "most": left_out[most] if most is not None else math.nan,
        "most_without": most,
        "turning_share": share,
    }


def _left_out(
    tasks: tuple[str, ...], families: Mapping[str, str] | None, w: FloatArray, d: FloatArray
) -> Iterator[tuple[str, float]]:
    """Yield the difference without each task, and without each family of several."""
    groups = {task: [task] for task in tasks}
    for task, family in (families or {}).items():
        groups.setdefault(f"{FAMILY} {family}", []).append(task)
    for name, members in groups.items():
        kept = np.array([task not in members for task in tasks])
        if w[kept].sum() > 0.0:
            yield name, float(w[kept] @ d[kept] / w[kept].sum())


def turning_share(weights: FloatArray, differences: FloatArray) -> float:
    """Return the least share of the weight to move for the sign of a weighted mean to turn.

    It is the total variation distance from the weights to the nearest ones that give 0.

    Parameters
    ----------
    weights : ndarray of float, shape (tasks,)
        Of at least 0; they sum to 1.
    differences : ndarray of float, shape (tasks,)
        What is averaged.

    Returns
    -------
    float
        Between 0 and 1; NaN where no weights turn the sign, or a difference is not finite.

    Notes
    -----
    The weight goes to the task of the most opposite difference, and comes first from the tasks
    where it changes the mean the most.

    Examples
    --------
    >>> turning_share(np.full(4, 0.25), np.array([3.0, 2.0, 1.0, -1.0]))
    0.3333333333333333
    """
    mean = float(weights @ differences)
    if not math.isfinite(mean):
        return math.nan
    if abs(mean) <= ROUNDING * float(weights @ np.abs(differences)):
        return 0.0
    d = differences * math.copysign(1.0, mean)
    if d.min() >= 0.0:
        return math.nan
    order = np.argsort(-d, kind="stable")
    missing, share = abs(mean), 0.0
    for gain, weight in zip(d[order] - d.min(), weights[order], strict=True):
        if missing <= ROUNDING * abs(mean):
            break
        part = min(weight, missing / gain) if gain > 0.0 else 0.0
        share, missing = share + float(part), missing - float(part * gain)
    return share
