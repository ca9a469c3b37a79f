"""Scores on a common scale: explicit, recorded in the table, and reversible.

A linear normalisation maps two anchors of each task to 0 and 1. Afterwards higher is better, since
the anchor that maps to 1 is the better one. For human-normalised scores of Atari games, random and
human scores come with Gnomon: the 57 pairs of table 12 of Aitchison, Sweetser and Hutter, *Atari-5:
Distilling the Arcade Learning Environment down to Five Games* (2022).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from gnomon.errors import DegenerateScoresWarning, ScoreDataError, UnknownNameError, listed
from gnomon.scores.anchors import (
    SUITES,
    anchors_of_suite,
    atari_baselines,
    atari_name,
    read_anchors,
)
from gnomon.scores.columns import FloatArray, IntArray, Rows
from gnomon.scores.scale import Normalization
from gnomon.scores.table import ScoreTable

#: What :func:`normalize` knows by name.
NORMALIZATIONS = (
    "min-max", "random-human", "percentile", "reference:ALGORITHM", "FILE",
    "atari", "procgen-easy", "procgen-hard", "dmc", "minatar",
)  # fmt: skip


def normalize(table: ScoreTable, name: str) -> ScoreTable:
    """Return the table normalised as one word says.

    Parameters
    ----------
    table : ScoreTable
        Raw scores.
    name : str
        ``min-max``, ``percentile``, or ``reference:ALGORITHM``, whose mean becomes 1 while a score
        of 0 remains 0; a suite of :mod:`gnomon.scores.anchors`: ``atari`` (or ``random-human``),
        ``procgen-easy``, ``procgen-hard``, ``dmc``, ``minatar``; or a CSV file with the columns
        ``task``, ``low`` and ``high``, or ``task``, ``random`` and ``human``.

    Warns
    -----
    DegenerateScoresWarning
        Tasks without anchors are left out of means; ranks keep them (:func:`with_left_out`).

    Raises
    ------
    UnknownNameError
        There is no such normalisation, or no such algorithm.
    ScoreDataError
        A task cannot be normalised so.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [5.0]]})
    >>> normalize(table, "min-max").runs("dqn", "task_0")
    array([0.  , 0.25, 1.  ])
    """
    kind, _, algorithm = name.partition(":")
    if kind == "reference" and algorithm:
        return normalize_reference(table, algorithm)
    if name in ("random-human", *SUITES):
        suite = "atari" if name == "random-human" else name
        return _by_known_anchors(table, anchors_of_suite(suite, table), name)
    if name.lower().endswith((".csv", ".tsv")):
        return _by_known_anchors(table, read_anchors(Path(name), table), Path(name).name)
    known = {"min-max": normalize_min_max, "percentile": normalize_percentile}
    if name not in known:
        raise UnknownNameError("normalization", name, NORMALIZATIONS)
    return known[name](table)


def _by_known_anchors(
    table: ScoreTable, anchors: Mapping[str, tuple[float, float]], name: str
) -> ScoreTable:
    """Return the table of the tasks that have anchors, normalised, and say which have none."""
    if table.normalization is not None or not anchors:
        if table.normalization is None:
            shown = listed(table.tasks, 6)
            raise ScoreDataError(f"{name}: no scores to normalise any task by; tasks are {shown}")
        return normalize_by(table, anchors, name=name)
    unknown = [task for task in table.tasks if task not in anchors]
    if not unknown:
        return normalize_by(table, anchors, name=name)
    warnings.warn(
        f"{name}: {len(unknown)} of {len(table.tasks)} tasks left out of means, without "
        f"baselines: {listed(unknown)}; ranks keep them",
        DegenerateScoresWarning,
        stacklevel=3,
    )
    scaled = normalize_by(table.select(tasks=list(anchors)), anchors, name=name)
    assert scaled.normalization is not None
    left_out = table.rows.take(table.rows["task"].isin(unknown))
    return replace(scaled, normalization=replace(scaled.normalization, left_out=left_out))


def with_left_out(table: ScoreTable) -> ScoreTable:
    """Return a table with the raw scores of the tasks that normalising left out, for ranks alone.

    Within each task higher is better, as on all others; between tasks scores do not compare.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[14.6, 3.0]]}, tasks=["Pong", "Chess"])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     scaled = normalize(table, "atari")
    >>> scaled.tasks, with_left_out(scaled).tasks
    (('Pong',), ('Pong', 'Chess'))
    """
    record = table.normalization
    if record is None or record.left_out is None:
        return table
    rows = record.left_out.take(record.left_out["algorithm"].isin(table.algorithms))
    if not record.higher_is_better:
        rows = rows.with_columns({"score": -rows["score"]})
    return replace(table, rows=Rows.joined([table.rows, rows.only(*table.rows.names)]))


def normalize_by(
    table: ScoreTable, anchors: Mapping[str, tuple[float, float]], *, name: str = "anchors"
) -> ScoreTable:
    """Return the table with ``(score - zero) / (one - zero)`` in the place of each score.

    Parameters
    ----------
    table : ScoreTable
        Raw scores.
    anchors : mapping from task to (zero, one)
        Two raw scores for every task of the table, the second the better one by meaning.
    name : str
        As it is recorded.

    Raises
    ------
    ScoreDataError
        A task has no anchors, or the second is not better than the first; or the table is
        normalised already.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[150.0], [200.0]]}, tasks=["pong"])
    >>> normalize_by(table, {"pong": (100.0, 200.0)}).runs("dqn", "pong")
    array([0.5, 1. ])
    """
    if table.normalization is not None:
        raise ScoreDataError(f"the scores are normalised already ({table.normalization.name})")
    used = {}
    for task in table.tasks:
        if task not in anchors:
            raise ScoreDataError(f"{name}: no scores to normalise task {task!r} by")
        zero, one = anchors[task]
        if not (np.isfinite([zero, one]).all() and zero != one):
            raise ScoreDataError(
                f"{name}: task {task!r}: expected two different finite scores for 0 and 1, "
                f"found {zero:g} and {one:g}"
            )
        if (one > zero) != table.higher_is_better:
            good = "high" if table.higher_is_better else "low"
            raise ScoreDataError(
                f"{name}: task {task!r}: expected the better score for 1, and {good} ones are "
                f"good; found {zero:g} for 0 and {one:g} for 1"
            )
        used[task] = (float(zero), float(one))
    record = Normalization(name, used, {}, table.higher_is_better)

    def scaled(task: str, scores: FloatArray) -> FloatArray:
        zero, one = used[task]
        # Adding zero makes -0.0 a plain 0.0.
        return (scores - zero) / (one - zero) + 0.0

    return _mapped(table, scaled, record, higher_is_better=True)


def normalize_min_max(table: ScoreTable) -> ScoreTable:
    """Return the table with the worst score of each task at 0 and the best at 1.

    Results change when an algorithm is added; anchors from elsewhere do not have this fault.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [5.0]]}, higher_is_better=False)
    >>> normalize_min_max(table).runs("dqn", "task_0")
    array([1.  , 0.75, 0.  ])
    """
    anchors = {}
    for task, scores in _finite_pools(table).items():
        ends = (float(scores[0]), float(scores[-1]))
        anchors[task] = ends if table.higher_is_better else ends[::-1]
    return normalize_by(table, anchors, name="min-max")


def normalize_random_human(
    table: ScoreTable, baselines: Mapping[str, tuple[float, float]] | None = None
) -> ScoreTable:
    """Return the table with random play at 0 and human play at 1.

    Parameters
    ----------
    table : ScoreTable
        Raw scores.
    baselines : mapping from task to (random, human), optional
        The 57 Atari games of :mod:`gnomon.scores.normalization` if not given; their names may be
        written as ``Pong``, ``pong``, ``PongNoFrameskip-v4`` or ``ALE/Pong-v5``.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[14.6], [-20.71]]}, tasks=["ALE/Pong-v5"])
    >>> normalize_random_human(table).runs("dqn", "ALE/Pong-v5")
    array([1., 0.])
    """
    if baselines is None:
        atari = atari_baselines()
        baselines = {t: atari[atari_name(t)] for t in table.tasks if atari_name(t) in atari}
    return normalize_by(table, baselines, name="random-human")


def normalize_reference(
    table: ScoreTable, algorithm: str, *, zero: str | float = 0.0
) -> ScoreTable:
    """Return the table with the mean score of an algorithm at 1.

    Parameters
    ----------
    table : ScoreTable
        Raw scores.
    algorithm : str
        Whose mean becomes 1 on each task.
    zero : str or float
        The raw score that becomes 0: a number, or another algorithm's mean.

    Raises
    ------
    ScoreDataError
        What becomes 1 is not better than what becomes 0.

    Notes
    -----
    Of learning curves, the mean at the last step of each run counts.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[10.0], [30.0]], "sac": [[40.0]]})
    >>> normalize_reference(table, "dqn").runs("sac", "task_0")
    array([2.])
    """
    last = table.last_step()

    def mean(name: str, task: str) -> float:
        scores = last.runs(name, task)
        return float(scores.mean()) if scores.size else float("nan")

    anchors = {
        task: (
            mean(zero, task) if isinstance(zero, str) else float(zero),
            mean(algorithm, task),
        )
        for task in table.tasks
    }
    return normalize_by(table, anchors, name=f"reference {algorithm}")


def normalize_percentile(table: ScoreTable) -> ScoreTable:
    """Return the table with each score's share of the task's scores that it beats, ties one half.

    Infinite (censored) scores take part and become finite. Results change when an algorithm is
    added.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [5.0], [5.0]]})
    >>> normalize_percentile(table).runs("dqn", "task_0")
    array([0.125, 0.375, 0.75 , 0.75 ])
    """
    if table.normalization is not None:
        raise ScoreDataError(f"the scores are normalised already ({table.normalization.name})")
    pools = _pools(table)
    record = Normalization("percentile", {}, pools, table.higher_is_better)

    def ranked(task: str, scores: FloatArray) -> FloatArray:
        pool = pools[task]
        below = np.searchsorted(pool, scores, "left") + np.searchsorted(pool, scores, "right")
        shares = below / (2.0 * max(pool.size, 1))  # without a score all are missing
        shares = shares if table.higher_is_better else 1.0 - shares
        return np.where(np.isnan(scores), np.nan, shares)

    return _mapped(table, ranked, record, higher_is_better=True)


def denormalize(table: ScoreTable) -> ScoreTable:
    """Return the table with its raw scores.

    Raises
    ------
    ScoreDataError
        The scores are not normalised.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"dqn": [[1.0], [2.0], [5.0]]})
    >>> denormalize(normalize_min_max(table)).runs("dqn", "task_0")
    array([1., 2., 5.])
    """
    record = table.normalization
    if record is None:
        raise ScoreDataError("expected normalised scores; the table holds raw ones")

    def raw(task: str, scores: FloatArray) -> FloatArray:
        if record.pools:
            pool = record.pools[task]
            if not pool.size:
                return scores  # all are missing
            shares = scores if record.higher_is_better else 1.0 - scores
            known = ~np.isnan(scores)
            # The share lies in the middle of the places that its ties take.
            places = np.floor(np.where(known, shares, 0.0) * pool.size).astype(np.int64)
            return np.where(known, pool[np.minimum(places, pool.size - 1)], np.nan)
        zero, one = record.anchors[task]
        return scores * (one - zero) + zero

    back = _mapped(table, raw, None, higher_is_better=record.higher_is_better)
    if record.pools and "censored" in back.rows:
        # The percentiles of censored runs were those of an infinite score.
        censored = {"censored": np.isinf(back.rows["score"])}
        back = replace(back, rows=back.rows.with_columns(censored))
    if record.left_out is not None:
        rows = record.left_out.take(record.left_out["algorithm"].isin(table.algorithms))
        rows = Rows.joined([back.rows, rows.only(*back.rows.names)])
        back = replace(back, rows=rows)
    return replace(back, provenance=(*table.provenance, f"{record.name} undone"))


def _pools(table: ScoreTable) -> dict[str, FloatArray]:
    """Return all scores of each task, censored ones infinite, ascending."""
    pools = {}
    for task, rows in _rows_of_tasks(table).items():
        scores = table.effective_scores[rows]
        pools[task] = np.sort(scores[~np.isnan(scores)])
    return pools


def _rows_of_tasks(table: ScoreTable) -> dict[str, IntArray]:
    """Return the places of the rows of each task."""
    codes = table.rows["task"].codes
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(table.tasks)))
    return dict(zip(table.tasks, np.split(order, ends[:-1]), strict=True)) if ends.size else {}


def _finite_pools(table: ScoreTable) -> dict[str, FloatArray]:
    """Return the finite scores of each task, ascending."""
    found = {}
    for task, scores in _pools(table).items():
        finite = scores[np.isfinite(scores)]
        if not finite.size:
            raise ScoreDataError(f"min-max: task {task!r} has no finite score")
        found[task] = finite
    return found


def _mapped(
    table: ScoreTable,
    function: Callable[[str, FloatArray], FloatArray],
    record: Normalization | None,
    *,
    higher_is_better: bool,
) -> ScoreTable:
    """Return the table with a function of task and scores applied to each task's rows."""
    is_percentile = record is not None and bool(record.pools)
    scores = (table.effective_scores if is_percentile else table.rows["score"]).copy()
    for task, rows in _rows_of_tasks(table).items():
        scores[rows] = function(task, scores[rows])
    mapped = {"score": scores}
    if is_percentile and "censored" in table.rows:
        # A percentile is all that is known of a censored run.
        mapped["censored"] = np.zeros(len(table), bool)
    note = (record.name,) if record is not None else ()
    return replace(
        table,
        rows=table.rows.with_columns(mapped),
        higher_is_better=higher_is_better,
        normalization=record,
        provenance=(*table.provenance, *note),
    )
