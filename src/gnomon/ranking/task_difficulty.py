"""Difficulty of tasks: clusters of those equally hard, and how many of them a learner masters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError
from gnomon.ranking.contest import Contest
from gnomon.ranking.ranks.resampled_ratings import Edges
from gnomon.ranking.ratings.hodge import hodge_ratings
from gnomon.ranking.tournament import Tournament
from gnomon.results import FieldRecord, Results, generator, made_by, recorded
from gnomon.scores.common_steps import at_common_step
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.bootstrap.resamples import draw_key


@dataclass(frozen=True)
class DifficultyClass(FieldRecord):
    """A class of difficulty: tasks about as hard as one another for every learner.

    Parameters
    ----------
    number : int
        From 1, the hardest.
    tasks : tuple of str
        The hardest first.
    difficulty : float
        Mean Hodge rating of its tasks, in log-odds; higher is harder.
    stability : float
        Mean, over resamples, of the Jaccard similarity with the most similar class found in them
        (Hennig 2007): below 0.6 it should not be believed, from 0.85 on it is stable.

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"a": [[1, 2, 90], [2, 1, 95]], "b": [[3, 2, 80], [1, 1, 85]]}
    >>> table = gn.ScoreTable.from_arrays(errors, tasks=["x", "y", "hard"], higher_is_better=False)
    >>> [one.tasks for one in difficulty_classes(table)]
    [('hard',), ('x', 'y')]
    """

    number: int
    tasks: tuple[str, ...]
    difficulty: float
    stability: float

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON; the number is called ``class``."""
        fields = super().as_record()
        return {"class": fields.pop("number")} | fields


@dataclass(frozen=True, eq=False, repr=False)
class DifficultyClasses(Results[DifficultyClass]):
    """Classes of difficulty, the hardest first.

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"a": [[1, 2, 90], [2, 1, 95]], "b": [[3, 2, 80], [1, 1, 85]]}
    >>> table = gn.ScoreTable.from_arrays(errors, tasks=["x", "y", "hard"], higher_is_better=False)
    >>> [one.number for one in difficulty_classes(table)]
    [1, 2]
    """

    title = "classes of difficulty, hardest first"
    notes = (
        "Stability: how much of a class comes back when runs are drawn again; below 0.6 do not "
        "believe it, from 0.85 on it is stable.",
    )


def difficulty_classes(
    table: ScoreTable,
    n_classes: int | None = None,
    *,
    n_resamples: int = 200,
    smoothing: float = 1.0,
    rng: np.random.Generator | int | None = None,
) -> DifficultyClasses:
    """Cluster tasks into classes of difficulty by the ease ratios of several learners.

    Two tasks are as far apart as the root mean square, over the learners that have both, of the
    logarithm of their ease ratio. They are merged by average linkage; runs are resampled inside
    each learner and task to see which classes come back.

    Parameters
    ----------
    table : ScoreTable
        Scores that mean the same on all tasks, such as numbers of errors.
    n_classes : int, optional
        How many classes; by default the number from 2 to one less than the tasks with the largest
        mean silhouette (Rousseeuw 1987): tasks that are all alike fall into two as well, which no
        resample finds again.
    n_resamples : int
        For the stability.
    smoothing : float
        Of the ease ratios.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or its seed; 0 if none is given.

    Returns
    -------
    DifficultyClasses
        A sequence of :class:`DifficultyClass`, the hardest first.

    Raises
    ------
    ScoreDataError
        There are fewer than three tasks, or two of them share no learner.
    ValueError
        There are not from 1 class to one for each task.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> errors = {name: rng.poisson([[10, 11, 80, 90]], (30, 4)) for name in ("dqn", "tabular")}
    >>> table = ScoreTable.from_arrays(errors, tasks=["a", "b", "c", "d"], higher_is_better=False)
    >>> [c.tasks for c in difficulty_classes(table, 2)]
    [('d', 'c'), ('b', 'a')]
    """
    draws = generator(rng)
    with recorded() as warned:
        contest = Contest.from_table(at_common_step(table), by="task")
    if len(contest.names) < 3:
        raise ScoreDataError(
            f"expected at least three tasks to classify, found {len(contest.names)}"
        )
    if n_classes is not None and not 1 <= n_classes <= len(contest.names):
        raise ValueError(f"expected 1 to {len(contest.names)} classes, found {n_classes}")
    graph = Tournament.of(contest, smoothing=smoothing)
    for i, j in np.argwhere(np.triu(graph.weights == 0.0, 1)):
        a, b = contest.names[i], contest.names[j]
        raise ScoreDataError(f"expected a learner with scores on both {a} and {b}, found none")
    parts = [contest.restricted([g]) for g in range(len(contest.grounds))]
    weights = contest.met.astype(np.float64)
    each = np.array([Tournament.of(part, smoothing=smoothing).log_odds for part in parts])
    distance = _distance((weights * each**2).sum(axis=0), weights.sum(axis=0))
    n_classes = n_classes or _best_number(distance)
    labels = _classes(distance, n_classes)
    squares = np.zeros((n_resamples, *distance.shape))
    for part, weight in zip(parts, weights, strict=True):
        blocks = Edges(part, smoothing).resampled(n_resamples, draw_key(draws))
        squares += weight * np.concatenate([odds for odds, _, _ in blocks]) ** 2
    redrawn = [_classes(_distance(s, weights.sum(axis=0)), n_classes) for s in squares]
    ratings = hodge_ratings(graph.log_odds, graph.weights)
    found = [_class(contest.names, labels == c, ratings, redrawn) for c in np.unique(labels)]
    found.sort(key=lambda one: -one[1])
    records = tuple(DifficultyClass(i, *one) for i, one in enumerate(found, 1))
    settings = made_by(rng, n_classes=n_classes, n_resamples=n_resamples, smoothing=smoothing)
    return DifficultyClasses(records, settings, tuple(warned))


def _class(
    names: Sequence[str],
    members: npt.NDArray[np.bool_],
    ratings: FloatArray,
    redrawn: Sequence[npt.NDArray[np.int64]],
) -> tuple[tuple[str, ...], float, float]:
    """Return the tasks of a class, its difficulty and its stability."""
    order: list[int] = sorted(np.flatnonzero(members).tolist(), key=lambda i: -ratings[i])
    stability = float(np.mean([_best_jaccard(members, labels) for labels in redrawn]))
    return tuple(names[i] for i in order), float(ratings[members].mean()), stability


def _distance(squares: FloatArray, total: FloatArray) -> FloatArray:
    """Return root mean squares over the learners that have both tasks."""
    return np.asarray(np.sqrt(squares / np.maximum(total, 1.0)))


def _classes(distance: FloatArray, n_classes: int) -> npt.NDArray[np.int64]:
    """Return the class of each task, by average linkage."""
    from scipy.cluster.hierarchy import cut_tree, linkage
    from scipy.spatial.distance import squareform

    tree = linkage(squareform(distance, checks=False), method="average")
    return np.asarray(cut_tree(tree, n_clusters=[n_classes])[:, 0], dtype=np.int64)


def _best_number(distance: FloatArray) -> int:
    """Return the number of classes with the largest mean silhouette; the smaller one if equal."""
    numbers = range(2, len(distance))
    return max(numbers, key=lambda k: (_silhouette(distance, _classes(distance, k)), -k))


def _silhouette(distance: FloatArray, labels: npt.NDArray[np.int64]) -> float:
    """Return the mean of (b - a) / max(a, b): distance to the next class and inside one's own."""
    own = labels[:, None] == labels[None, :]
    widths = []
    for i in range(len(labels)):
        others = own[i].copy()
        others[i] = False
        if not others.any():
            widths.append(0.0)
            continue
        a = distance[i, others].mean()
        b = min(distance[i, labels == c].mean() for c in np.unique(labels) if c != labels[i])
        widths.append((b - a) / max(a, b) if max(a, b) > 0.0 else 0.0)
    return float(np.mean(widths))


def _best_jaccard(members: npt.NDArray[np.bool_], labels: npt.NDArray[np.int64]) -> float:
    """Return the similarity with the most similar class."""
    return max(
        np.count_nonzero(members & (labels == c)) / np.count_nonzero(members | (labels == c))
        for c in np.unique(labels)
    )


@dataclass(frozen=True)
class Generality(FieldRecord):
    """Generality of one algorithm: how much of a suite it learns, and where it is weakest.

    Parameters
    ----------
    algorithm : str
    n_tasks : int
        Tasks it has scores on.
    learned_share : float
        Mean share of its runs that are not censored.
    classes_learned, n_classes : int
        Classes of difficulty in which it learned some task in at least half of its runs, of those
        it was tried on.
    mean_win, worst_win : float
        P(better than another algorithm), the mean over tasks and the least; NaN where there is no
        other.
    worst_task : str or None
        Where that is.

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"a": [[1, 2, 90], [2, 1, 95]], "b": [[3, 2, 80], [1, 1, 85]]}
    >>> table = gn.ScoreTable.from_arrays(errors, tasks=["x", "y", "hard"], higher_is_better=False)
    >>> found = generality(table, difficulty_classes(table))[0]
    >>> found.algorithm, found.n_tasks, found.worst_task
    ('a', 3, 'hard')
    """

    algorithm: str
    n_tasks: int
    learned_share: float
    classes_learned: int
    n_classes: int
    mean_win: float
    worst_win: float
    worst_task: str | None


@dataclass(frozen=True, eq=False, repr=False)
class GeneralityTable(Results[Generality]):
    """The generality of every algorithm.

    Examples
    --------
    >>> import gnomon as gn
    >>> errors = {"a": [[1, 2, 90], [2, 1, 95]], "b": [[3, 2, 80], [1, 1, 85]]}
    >>> table = gn.ScoreTable.from_arrays(errors, tasks=["x", "y", "hard"], higher_is_better=False)
    >>> found = generality(table, difficulty_classes(table))
    >>> [one.algorithm for one in found]
    ['a', 'b']
    """

    title = "generality"


def generality(
    table: ScoreTable, classes: Sequence[DifficultyClass] | None = None
) -> GeneralityTable:
    """Compute the generality of each algorithm: of how many classes it learns a task.

    Parameters
    ----------
    table : ScoreTable
        With runs that never learned as censored.
    classes : sequence of DifficultyClass, optional
        From :func:`difficulty_classes`; each task is a class of its own if not given.

    Examples
    --------
    >>> runs = [("dqn", "clockwise", 9), ("dqn", "clockwise", 8), ("dqn", "b3", 80),
    ...         ("dqn", "b3", np.inf), ("uniform", "clockwise", 50), ("uniform", "b3", np.inf)]
    >>> table = ScoreTable.from_records(
    ...     [{"algorithm": a, "task": t, "run": i, "score": s, "censored": s == np.inf}
    ...      for i, (a, t, s) in enumerate(runs)],
    ...     higher_is_better=False,
    ... )
    >>> for g in generality(table):
    ...     print(g.algorithm, g.learned_share, f"{g.classes_learned}/{g.n_classes}", g.worst_task)
    dqn 0.75 2/2 b3
    uniform 0.5 1/2 clockwise
    """
    table = at_common_step(table)
    groups = [c.tasks for c in classes] if classes else [(task,) for task in table.tasks]
    contest = Contest.from_table(table) if len(table.algorithms) > 1 else None
    found = [_generality(table, contest, name, groups) for name in table.algorithms]
    return GeneralityTable(tuple(found), made_by(None, n_classes=len(groups)))


def _generality(
    table: ScoreTable, contest: Contest | None, name: str, groups: Sequence[Sequence[str]]
) -> Generality:
    tasks = table.tasks_of(name)
    learned = {task: float(np.isfinite(table.runs(name, task)).mean()) for task in tasks}
    tried = [[task for task in group if task in learned] for group in groups]
    mastered = [max(learned[task] for task in group) >= 0.5 for group in tried if group]
    wins: dict[str, float] = {}
    if contest is not None and name in contest.names:
        chances = contest.probability[:, contest.names.index(name), :]
        met = ~np.isnan(chances)
        wins = {
            ground: float(row[there].mean())
            for ground, row, there in zip(contest.grounds, chances, met, strict=True)
            if there.any()
        }
    worst = min(wins, key=lambda task: wins[task]) if wins else None
    return Generality(
        name,
        len(tasks),
        float(np.mean(list(learned.values()))) if learned else math.nan,
        sum(mastered),
        len(mastered),
        float(np.mean(list(wins.values()))) if wins else math.nan,
        wins[worst] if worst is not None else math.nan,
        worst,
    )
