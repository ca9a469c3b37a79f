"""Critical differences: mean ranks over tasks, and which algorithms are not separated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from gnomon.errors import ScoreDataError, counted
from gnomon.printing import p_value, percent
from gnomon.ranking.ranks import rank, tier_text, tiers
from gnomon.ranking.ratings import Field, task_ranks
from gnomon.results import FieldRecord, Results, Row, made_by, noted, recorded
from gnomon.scores.reading import Scores, table_of
from gnomon.scores.table import FloatArray


@dataclass(frozen=True)
class MeanRank(FieldRecord):
    """Mean rank of one algorithm over the common tasks, and the numbers, from 1, of its groups."""

    name: str
    mean_rank: float
    groups: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CriticalDifference(Results[MeanRank]):
    """Mean ranks over common tasks, best first, with groups of algorithms that are not separated.

    The `settings` hold ``n_tasks``, the number of common tasks, and ``friedman_p``, the p-value of
    Friedman's test that all are alike. Each pair that is not separated is in one of the `groups`,
    and no group holds a pair that is.
    """

    groups: tuple[tuple[str, ...], ...]

    drawn_by: ClassVar[str | None] = "gnomon.plot.tiers:critical_difference_figure"

    @property
    def title(self) -> str:
        """Over how many tasks, and the level."""
        n_tasks, level = counted(self.settings["n_tasks"], "task"), self.settings["level"]
        return f"mean ranks over {n_tasks}, level {percent(level)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How pairs were tested, and the test that all are alike."""
        n_pairs = counted(len(self) * (len(self) - 1) // 2, "pair")
        p = p_value(self.settings["friedman_p"], "= ")
        return (
            f"Pairs are separated by the test and the correction of rank ({n_pairs}).",
            f"Friedman's test that all are equal: p {p}.",
        )

    def rows(self) -> list[Row]:
        """Return mean ranks, and the numbers of groups."""
        return [
            {
                "algorithm": one.name,
                "mean rank": one.mean_rank,
                "not separated": tier_text(one.groups) or "-",
            }
            for one in self
        ]


def critical_difference(scores: Scores, *, level: float = 0.95) -> CriticalDifference:
    """Compare mean ranks over the tasks that all algorithms share.

    On each task algorithms are ranked by their wins against the runs of the others. A pair is
    separated if :func:`rank` separates it: the same test and the same correction, which do not
    depend on the mean ranks of other algorithms (Benavoli, Corani and Mangili 2016).

    Parameters
    ----------
    scores : ScoreTable
    level : float
        Confidence level.

    Returns
    -------
    CriticalDifference
        A sequence of records, best first, with the fields ``name``, ``mean_rank`` and ``groups``.

    Raises
    ------
    ScoreDataError
        Fewer than two tasks are shared by all.

    References
    ----------
    Demsar (2006), Journal of Machine Learning Research 7; Benavoli, Corani and Mangili (2016), the
    same journal 17.

    Examples
    --------
    >>> from gnomon import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> scores = {name: rng.normal(mean, 1, (5, 12)) for name, mean in
    ...           {"a": 0, "b": 0, "c": 3}.items()}
    >>> found = critical_difference(ScoreTable.from_arrays(scores))
    >>> found[0].name, found[0].mean_rank, found.groups
    ('c', 1.0, (('b', 'a'),))
    """
    scores = table_of(scores)
    with recorded() as warned:
        ranking = rank(scores, level=level)
    with noted():
        field = Field.of(scores, "algorithm")
    shared = np.flatnonzero((field.sizes > 0).all(axis=1)).tolist()
    if len(shared) < 2:
        raise ScoreDataError(
            "critical difference: expected two tasks or more that all algorithms share, found "
            f"{len(shared)}"
        )
    ranks = task_ranks([field.samples[task] for task in shared])
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    names, mean_ranks = tuple(field.names[i] for i in order), ranks.mean(axis=0)[order]
    places = [ranking.names.index(name) for name in names]
    groups = _groups(names, ranking.separated[np.ix_(places, places)])
    records = tuple(
        MeanRank(name, mean_rank, tuple(i for i, group in enumerate(groups, 1) if name in group))
        for name, mean_rank in zip(names, mean_ranks.tolist(), strict=True)
    )
    settings = made_by(None, level=level, n_tasks=len(ranks), friedman_p=_friedman(ranks))
    return CriticalDifference(records, settings, tuple(warned), groups=groups)


def _groups(names: Sequence[str], separated: npt.NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
    """Return groups that contain each pair that is not separated, and no separated pair."""
    groups = [group for group in tiers(names, separated) if len(group) > 1]
    place = {name: i for i, name in enumerate(names)}
    covered = separated.copy()
    for group in groups:
        at = [place[name] for name in group]
        covered[np.ix_(at, at)] = True
    for i, j in np.argwhere(np.triu(~covered, 1)).tolist():
        if covered[i, j]:
            continue
        members = [i, j]
        for k in range(len(names)):
            if k not in members and not separated[k, members].any():
                members.append(k)
        covered[np.ix_(members, members)] = True
        groups.append(tuple(names[k] for k in sorted(members)))
    return tuple(groups)


def _friedman(ranks: FloatArray) -> float:
    """Return the p-value of Friedman's test, corrected for ties (chi-squared approximation)."""
    from scipy import special

    n_tasks, k = ranks.shape
    spread = float(((ranks - (k + 1) / 2.0) ** 2).sum())
    if spread == 0.0:
        return 1.0
    between = float(((ranks.sum(axis=0) - n_tasks * (k + 1) / 2.0) ** 2).sum())
    return float(special.chdtrc(k - 1, (k - 1) * between / spread))
