"""Transfer: errors that an earlier task saves on a later one, against starting fresh."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from gnomon.errors import ScoreDataError, listed
from gnomon.results import FieldRecord, Results
from gnomon.scores.table import ScoreTable
from gnomon.stats.clustered_contrasts import Contrast, contrast
from gnomon.stats.comparisons.rank_tests import holm

_Groups = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class TransferEffect(FieldRecord):
    """What an earlier task saves on a later one, or a difference of two such savings.

    Parameters
    ----------
    algorithm : str
        A learner, or ``people``.
    effect : str
        ``pair``, of one task after another; ``near``, ``far`` or ``all``, the mean over pairs;
        ``near - far``; or ``order``, what `before` saves on `rule` less what `rule` saves on
        `before`.
    before, rule : str or None
    n_fresh, n_after : int
        Participants who began with `rule`, and who came to it after `before`; of a mean, of all.
    fresh, after : float
        Their mean scores; NaN of what is no pair.
    saved, low, high : float
        Fresh less after, with its interval: above 0, the earlier task helps.
    share, share_low, share_high : float
        1 - after / fresh, with its interval; NaN of what is no pair.
    p_value, p_adjusted : float
        That nothing is saved; after Holm's correction over the pairs of the table.

    Examples
    --------
    >>> [one.saved for one in transfer_effects(_example())]
    [4.0, 4.0]
    """

    algorithm: str
    effect: str
    before: str | None
    rule: str | None
    n_fresh: int
    n_after: int
    fresh: float
    after: float
    saved: float
    low: float
    high: float
    share: float
    share_low: float
    share_high: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True, eq=False, repr=False)
class TransferEffects(Results[TransferEffect]):
    """Transfer of each pair of tasks, and means over them.

    Examples
    --------
    >>> transfer_effects(_example()).columns[:2]
    ('algorithm', 'effect')
    """

    drawn_by: ClassVar[str | None] = "gnomon.plot.transfer:draw_transfer"
    columns: ClassVar[tuple[str, ...]] = (
        "algorithm", "effect", "before", "rule", "n_fresh", "n_after", "fresh", "after", "saved",
        "low", "high", "share", "p_value", "p_adjusted",
    )  # fmt: skip

    @property
    def title(self) -> str:
        """What is saved."""
        return f"{self.settings['metric']} saved by what was met before"

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read the signs."""
        return (
            "Above 0, the earlier task helps; intervals take account of who stands in several "
            "groups.",
        )


def transfer_effects(
    table: ScoreTable,
    *,
    near: Collection[tuple[str, str]] = (),
    level: float = 0.95,
) -> TransferEffects:
    """Estimate what an earlier task saves on a later one, against starting fresh.

    Of each pair, the mean of those who began with the later task less that of those who came to it
    after the earlier one. Who stands in several groups, as a learner who plays the same boards
    fresh and after, or a participant whose first task is a pair's earlier one and another's later
    one, is paired with himself. Where both orders of two tasks were played, ``all`` is the estimate
    of a two-period crossover, in which the ability of each participant cancels, and ``order`` says
    whether one order saves more than the other.

    Parameters
    ----------
    table : ScoreTable
        Lower scores are better; with the attributes ``rule`` and ``preceding``, and ``player``, by
        whom participants are known, as in tables of phases and of people's series; without it,
        each run is a participant of its own. An attribute
        ``kind``, ``near`` or ``far``, groups pairs.
    near : collection of (before, rule), optional
        Pairs that are near; all others are far then.
    level : float
        Confidence level.

    Returns
    -------
    TransferEffects

    Raises
    ------
    ScoreDataError
        The attributes are not there, no task was met both fresh and after another, or scores are
        censored: a mean of them does not exist.

    References
    ----------
    Hills and Armitage (1979), Br. J. Clin. Pharmacol. 8, for the crossover;
    :func:`gnomon.stats.contrast` for the intervals.

    Examples
    --------
    >>> found = transfer_effects(_example())
    >>> found[0].before, found[0].rule, found[0].saved, found[0].share
    ('a', 'b', 4.0, 0.5)
    """
    _check(table)
    records: list[TransferEffect] = []
    for algorithm, rows in _by_algorithm(table).items():
        groups = _groups(rows)
        kinds = _kinds(rows, near)
        pairs = [pair for pair in _pairs(groups) if _task(*pair) in groups]
        records += [_pair(algorithm, groups, *pair, level) for pair in pairs]
        records += _means(algorithm, groups, pairs, kinds, level)
        records += _orders(algorithm, groups, pairs, level)
    if not records:
        raise ScoreDataError(
            "expected a task that was met both fresh and after another; found none among "
            f"{listed(table.tasks)}"
        )
    return TransferEffects(tuple(_adjusted(records)), {"metric": table.metric, "level": level})


def _check(table: ScoreTable) -> None:
    if not {"rule", "preceding"} <= set(table.attributes):
        raise ScoreDataError(
            "expected the columns 'rule' and 'preceding', as of people's series that were scored "
            "with --prec-mode every; found none"
        )
    if table.higher_is_better:
        raise ScoreDataError(f"expected scores of which lower is better; found {table.scale}")


def _by_algorithm(table: ScoreTable) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each learner; players are no algorithms of their own.

    Runs of a table without players are of as many participants: who is who is not known there.
    """
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in table.to_records():
        if row.get("censored"):
            raise ScoreDataError(
                f"{row['algorithm']} on {row['task']}: a censored score has no mean; score errors "
                "(--metric errors)"
            )
        if row["score"] is not None:
            who = row.get("player") or f"{row['algorithm']} {row['task']} {row['run']}"
            name = "people" if who == row["algorithm"] else row["algorithm"]
            found[name].append(row | {"player": who})
    return found


def _groups(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the score of each participant in each group; the mean of several."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[_task(row["preceding"] or "", row["rule"])][row["player"]].append(row["score"])
    return {
        task: {who: math.fsum(values) / len(values) for who, values in of_task.items()}
        for task, of_task in found.items()
    }


def _task(before: str, rule: str) -> str:
    return f"{before}:{rule}" if before else rule


def _pairs(groups: _Groups) -> list[tuple[str, str]]:
    """Return each task before, and the rule after it, of which there is a fresh group."""
    split = [task.rpartition(":") for task in groups]
    return [(before, rule) for before, _, rule in split if before and rule in groups]


def _kinds(
    rows: list[dict[str, Any]], near: Collection[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    if near:
        found = {(row["preceding"], row["rule"]) for row in rows if row["preceding"]}
        return {pair: "near" if pair in near else "far" for pair in found}
    return {
        (row["preceding"], row["rule"]): row["kind"]
        for row in rows
        if row["preceding"] and row.get("kind")
    }


def _saving(before: str, rule: str) -> dict[str, float]:
    return {rule: 1.0, _task(before, rule): -1.0}


def _pair(algorithm: str, groups: _Groups, before: str, rule: str, level: float) -> TransferEffect:
    fresh, after = groups[rule], groups[_task(before, rule)]
    means = [math.fsum(x.values()) / len(x) for x in (fresh, after)]
    found = contrast(groups, _saving(before, rule), level=level)
    share = _share(groups, before, rule, means, level)
    one = _effect(algorithm, "pair", found, before, rule, len(fresh), len(after))
    return replace(
        one, fresh=means[0], after=means[1], share=share[0], share_low=share[1], share_high=share[2]
    )


def _share(
    groups: _Groups, before: str, rule: str, means: list[float], level: float
) -> tuple[float, float, float]:
    """Return the share that is saved; its interval by the delta method on the logarithm."""
    fresh, after = means
    if not fresh > 0:
        return math.nan, math.nan, math.nan
    if not after > 0:
        return 1.0, math.nan, math.nan
    weights = {rule: -1.0 / fresh, _task(before, rule): 1.0 / after}
    found, log = contrast(groups, weights, level=level), math.log(after / fresh)
    half = (found.high - found.low) / 2
    return 1 - after / fresh, 1 - math.exp(log + half), 1 - math.exp(log - half)


def _effect(
    algorithm: str,
    effect: str,
    found: Contrast,
    before: str | None = None,
    rule: str | None = None,
    n_fresh: int = 0,
    n_after: int = 0,
) -> TransferEffect:
    nan = math.nan
    return TransferEffect(
        algorithm, effect, before, rule, n_fresh, n_after, nan, nan, found.value, found.low,
        found.high, nan, nan, nan, found.p_value, nan,
    )  # fmt: skip


def _sum(parts: Collection[Mapping[str, float]], factor: float) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for part in parts:
        for group, weight in part.items():
            total[group] += factor * weight
    return dict(total)


def _means(
    algorithm: str,
    groups: _Groups,
    pairs: list[tuple[str, str]],
    kinds: Mapping[tuple[str, str], str],
    level: float,
) -> Iterator[TransferEffect]:
    """Yield the mean saving over pairs: near ones, far ones, their difference, and all."""
    sums: dict[str, dict[str, float]] = {}
    for kind in ("near", "far", "all"):
        own = [pair for pair in pairs if kind in ("all", kinds.get(pair))]
        if not own:
            continue
        sums[kind] = _sum([_saving(*pair) for pair in own], 1 / len(own))
        yield _mean_effect(algorithm, kind, groups, sums[kind], own, level)
    if {"near", "far"} <= set(sums):
        difference = _sum([sums["near"], _sum([sums["far"]], -1.0)], 1.0)
        yield _mean_effect(algorithm, "near - far", groups, difference, pairs, level)


def _mean_effect(
    algorithm: str,
    effect: str,
    groups: _Groups,
    weights: Mapping[str, float],
    pairs: list[tuple[str, str]],
    level: float,
) -> TransferEffect:
    found = contrast(groups, weights, level=level)
    fresh = {who for _, rule in pairs for who in groups[rule]}
    after = {who for pair in pairs for who in groups[_task(*pair)]}
    return _effect(algorithm, effect, found, n_fresh=len(fresh), n_after=len(after))


def _orders(
    algorithm: str, groups: _Groups, pairs: list[tuple[str, str]], level: float
) -> Iterator[TransferEffect]:
    """Yield, of two tasks that were played in both orders, which order saves more."""
    for (a, b), other in combinations(sorted(pairs), 2):
        if other == (b, a):
            weights = _sum([_saving(a, b), _sum([_saving(b, a)], -1.0)], 1.0)
            found = contrast(groups, weights, level=level)
            yield _effect(algorithm, "order", found, a, b, len(groups[b]), len(groups[_task(a, b)]))


def _adjusted(records: list[TransferEffect]) -> Iterator[TransferEffect]:
    """Correct the p-values of pairs for each other."""
    is_pair = np.array([record.effect == "pair" for record in records])
    p_values = np.array([record.p_value for record in records])
    adjusted = np.full(len(records), math.nan)
    adjusted[is_pair] = holm(p_values[is_pair])
    for record, p in zip(records, adjusted.tolist(), strict=True):
        yield replace(record, p_adjusted=p)


def _example() -> ScoreTable:
    """Return three learners' errors on a task fresh and after another, for the examples."""
    rows = [
        {"algorithm": "q", "task": task, "run": i, "score": float(y), "player": f"q {i}",
         "rule": task[-1], "preceding": task[:-2] or None}
        for task, scores in {"b": (9, 7, 8), "a:b": (5, 4, 3)}.items()
        for i, y in enumerate(scores)
    ]  # fmt: skip
    return ScoreTable.from_records(rows, metric="errors", higher_is_better=False)
