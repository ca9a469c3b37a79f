"""Individual differences: groups of participants who find the same rules hard."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnomon.scores.table import FloatArray

#: Fewer participants with two rules or more have no groups; there are never more groups than this.
_LEAST, _MOST_GROUPS = 6, 4
_PERMUTATIONS = 199


@dataclass(frozen=True)
class ParticipantClusters:
    """Groups of participants by what they find hard.

    Parameters
    ----------
    group_of : mapping from participant to int
        From 1, those with the fewest errors first; empty if there are too few participants.
    silhouette : float
        Mean silhouette of the groups, -1 to 1; NaN without groups.
    p_value : float
        Share of data sets without groups, made by shuffling each rule's scores among participants,
        that fall into groups as clear; NaN without groups.

    Examples
    --------
    >>> ParticipantClusters({}, float("nan"), float("nan")).group_of
    {}
    """

    group_of: Mapping[str, int]
    silhouette: float
    p_value: float


def participant_clusters(
    errors: Mapping[str, Mapping[str, float]], *, rng: np.random.Generator
) -> ParticipantClusters:
    """Cluster participants by their errors on each rule, and test that there are groups at all.

    Errors are taken by the logarithm of one more, and standardised on each rule; two participants
    are as far apart as the root mean square difference on the rules that both played. Average
    linkage; two to four groups, as many as give the greatest mean silhouette. Whoever played fewer
    than two rules is left out.

    Parameters
    ----------
    errors : mapping from participant to mapping from rule to float
    rng : numpy.random.Generator
        Shuffles.

    References
    ----------
    Rousseeuw (1987), J. Comput. Appl. Math. 20, for the silhouette.

    Examples
    --------
    >>> good, bad = {"a": 1.0, "b": 2.0}, {"a": 30.0, "b": 40.0}
    >>> data = {f"p{i}": good if i % 2 else bad for i in range(8)}
    >>> found = participant_clusters(data, rng=np.random.default_rng(0))
    >>> found.group_of["p1"], found.group_of["p0"], found.silhouette
    (1, 2, 1.0)
    """
    names = [who for who, of_player in errors.items() if len(of_player) >= 2]
    rules = sorted({rule for who in names for rule in errors[who]})
    if len(names) < _LEAST or len(rules) < 2:
        return ParticipantClusters({}, math.nan, math.nan)
    values = np.array([[errors[who].get(rule, math.nan) for rule in rules] for who in names])
    scores = _standardised(np.log1p(values))
    groups, silhouette = _best(scores)
    as_clear = 0
    for _ in range(_PERMUTATIONS):
        as_clear += _best(_shuffled(scores, rng))[1] >= silhouette
    order = sorted(set(groups), key=lambda g: float(np.nanmean(scores[groups == g])))
    number = {group: k for k, group in enumerate(order, 1)}
    members = {who: number[group] for who, group in zip(names, groups, strict=True)}
    return ParticipantClusters(members, silhouette, (as_clear + 1) / (_PERMUTATIONS + 1))


def _standardised(values: FloatArray) -> FloatArray:
    spread = np.nanstd(values, axis=0)
    centred = values - np.nanmean(values, axis=0)
    standard: FloatArray = centred / np.where(spread > 0, spread, 1.0)
    return standard


def _shuffled(scores: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return each column shuffled among those who have it."""
    shuffled = scores.copy()
    for column in shuffled.T:
        there = np.flatnonzero(~np.isnan(column))
        column[there] = column[rng.permutation(there)]
    return shuffled


def _best(scores: FloatArray) -> tuple[npt.NDArray[np.int64], float]:
    """Return the groups with the greatest mean silhouette."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    distances = _distances(scores)
    merges = linkage(squareform(distances, checks=False), "average")
    numbers = range(2, _MOST_GROUPS + 1)
    found = [fcluster(merges, k, "maxclust").astype(np.int64) for k in numbers]
    silhouettes = [_silhouette(distances, groups) for groups in found]
    best = int(np.argmax(silhouettes))
    return found[best], silhouettes[best]


def _distances(scores: FloatArray) -> FloatArray:
    """Return root mean square differences over common rules; without any, those of the rest."""
    there = ~np.isnan(scores)
    filled = np.where(there, scores, 0.0)
    common = there.astype(float) @ there.T
    squares = (filled**2) @ there.T + there @ (filled**2).T - 2 * filled @ filled.T
    with np.errstate(invalid="ignore", divide="ignore"):
        distances = np.sqrt(np.maximum(squares, 0.0) / common)
    usual = np.nanmean(distances[~np.eye(len(scores), dtype=bool)])
    distances = np.where(np.isnan(distances), usual, distances)
    np.fill_diagonal(distances, 0.0)
    return np.asarray(distances)


def _silhouette(distances: FloatArray, groups: npt.NDArray[np.int64]) -> float:
    """Return the mean silhouette; that of whoever is alone in a group is 0."""
    member = groups[:, None] == np.unique(groups)
    sizes = member.sum(axis=0)
    if sizes.size < 2:
        return -1.0
    sums = distances @ member
    own = np.argmax(member, axis=1)
    rows = np.arange(len(groups))
    inside = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
    outside = np.where(member, np.inf, sums / sizes).min(axis=1)
    values = (outside - inside) / np.maximum(np.maximum(inside, outside), 1e-300)
    return float(np.where(sizes[own] > 1, values, 0.0).mean())
