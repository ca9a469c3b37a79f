"""Computation of standings from verified scores: estimates, rank intervals, tiers, gaps.

Every number here is one that :mod:`gnomon.stats` or :mod:`gnomon.ranking` makes, from the table of
scores that anybody can download; nothing is computed another way for the board.

All verified attempts of an entry count, their trials put together as runs: who submits the same
learner a hundred times gets a shorter interval, not a better place. An entry that lacks a trial, or
one of whose attempts was taken back or refused, stands below without a rank: what is left of it may
be a choice. Whoever does not like what came of an attempt could spoil its log, or leave it
unfinished.

Who began k attempts had k chances to look good: its rank interval holds at ``1 - (1 - level) / k``
(Bonferroni), so that the best of k equals stands surely above others no more often than one alone.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.results import noted
from gnomon_board.leaderboard.standing_records import (
    LEVEL,
    METRICS,
    Board,
    Contender,
    Difference,
    Number,
    Standing,
    Standings,
    Why,
)

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gnomon.ranking import Ranked, Ranking
    from gnomon.stats import Estimate


def score_table(board: Board, contenders: Iterable[Contender]) -> ScoreTable:
    """Return the scores of some entries: names as algorithms, rules as tasks, trials as runs.

    Raises ScoreDataError: none of them has a score.
    """
    import polars as pl

    from gnomon import ScoreTable

    name_of = {contender.entry_id: contender.name for contender in contenders}
    rows = board.scores.filter(pl.col("entry").is_in(list(name_of)))
    names = pl.col("entry").replace_strict(name_of, return_dtype=pl.String).alias("algorithm")
    frame = rows.select(names, pl.col("rule").alias("task"), "run", "score")
    # In the order of the entries and of the season's rules, whatever order the trials came in.
    places = {name: i for i, name in enumerate([*name_of.values()])}
    rules = {name: i for i, name in enumerate(board.rules)}
    frame = frame.sort(
        pl.col("algorithm").replace_strict(places, return_dtype=pl.Int64),
        pl.col("task").replace_strict(rules, return_dtype=pl.Int64),
        "run",
    )
    return ScoreTable.from_frame(
        frame,
        metric="tce",
        unit="errors",
        higher_is_better=False,
        provenance=(f"season {board.season}, version {board.version}",),
    )


def standings_of(board: Board) -> Standings:
    """Compute the standings of a season.

    What is not estimable is None there, and a note says why; an entry without a rank is never among
    the ranked.
    """
    with noted() as notes:
        counts = _counts(board)
        why = {c.entry_id: _why_unranked(board, c, counts) for c in board.contenders}
        ranked = [c for c in board.contenders if why[c.entry_id] is None]
        unranked = [c for c in board.contenders if why[c.entry_id] is not None]
        lines, rules = _ranked_lines(board, ranked, counts)
    return Standings(
        board.season,
        board.version,
        tuple(lines),
        tuple(
            Standing(c, {}, None, None, (), None, sum(counts[c.entry_id].values()), why[c.entry_id])
            for c in sorted(unranked, key=lambda c: c.name.casefold())
        ),
        rules,
        board.notes + tuple(notes),
        n_trials=sum(line.n_trials for line in lines),
    )


def _counts(board: Board) -> dict[int, dict[str, int]]:
    """Return how many scores each entry has on each rule; one that is not a number is none."""
    import polars as pl

    counts: dict[int, dict[str, int]] = {c.entry_id: {} for c in board.contenders}
    there = board.scores.filter(pl.col("score").is_not_nan() & pl.col("score").is_not_null())
    for entry, rule, n in there.group_by("entry", "rule").len().iter_rows():
        if entry in counts:
            counts[entry][rule] = n
    return counts


def _why_unranked(
    board: Board, contender: Contender, counts: Mapping[int, Mapping[str, int]]
) -> Why | None:
    if contender.n_withdrawn:
        return "withdrawn attempt"
    if contender.n_refused:
        return "refused attempt"
    if contender.n_unfinished:
        return "unfinished attempt"
    owed = board.trials * max(1, contender.n_verified)
    found = counts[contender.entry_id]
    return None if all(found.get(rule, 0) >= owed for rule in board.rules) else "incomplete"


def _ranked_lines(
    board: Board,
    ranked: Sequence[Contender],
    counts: Mapping[int, Mapping[str, int]],
) -> tuple[list[Standing], tuple[Mapping[str, Any], ...]]:
    if not ranked:
        return [], tuple(_rule_record(name, hidden) for name, hidden in board.rules.items())
    table = score_table(board, ranked)
    estimates = _estimates(table, METRICS, board)
    gaps = _gaps(board, table)
    lines = {
        c.name: Standing(
            c,
            {m: Number.of(estimates[c.name, m]) for m in METRICS},
            1,
            1,
            (1,),
            gaps.get(c.name),
            sum(counts[c.entry_id].values()),
        )
        for c in ranked
    }
    n_begun = {c.name: c.n_begun_of_account for c in ranked}
    ranking = _ranking(table, "algorithm")
    if ranking is None:
        return list(lines.values()), _rules(board, table)
    ordered = [_with_rank(lines[one.name], one) for one in _corrected(table, ranking, n_begun)]
    return ordered, _rules(board, table)


def _corrected(table: ScoreTable, ranking: Ranking, n_begun: Mapping[str, int]) -> list[Ranked]:
    """Return the ranks corrected for the attempts that each account began (Bonferroni).

    A pair is separated if its adjusted p-value times the larger number of attempts is small enough;
    intervals of win probabilities hold at their own such level.
    """
    from gnomon.ranking import rank, rank_intervals, tiers

    n = np.array([n_begun.get(name, 1) for name in ranking.names])
    separated = ranking.p_adjusted * np.maximum.outer(n, n) <= 1.0 - ranking.level
    low, high = rank_intervals(separated & (ranking.probability > 0.5))
    groups = tiers(ranking.names, separated)
    with noted():
        wider = {
            k: {one.name: one for one in rank(table, level=1.0 - (1.0 - ranking.level) / k)}
            for k in set(n.tolist()) - {1}
        }
    of = [wider[k][one.name] if k > 1 else one for k, one in zip(n.tolist(), ranking, strict=True)]
    return [
        replace(
            one,
            rank_low=int(low[i]),
            rank_high=int(high[i]),
            tiers=tuple(number for number, group in enumerate(groups, 1) if one.name in group),
        )
        for i, one in enumerate(of)
    ]


def _with_rank(line: Standing, found: Ranked) -> Standing:
    return replace(
        line,
        rank_low=found.rank_low,
        rank_high=found.rank_high,
        groups=found.tiers,
        rating=Number.odds(found),
    )


def _estimates(
    table: ScoreTable, metrics: Sequence[str], board: Board
) -> dict[tuple[str, str], Estimate]:
    from gnomon import estimate

    rng = np.random.default_rng(board.seed)
    found = estimate(table, metrics, level=LEVEL, variances="own", rng=rng)
    return {(estimate.algorithm, estimate.metric): estimate for estimate in found}


def _ranking(table: ScoreTable, by: Literal["algorithm", "task"]) -> Ranking | None:
    """Rank entries or rules; None where there is nothing to compare."""
    from gnomon.ranking import rank

    if len(table.algorithms if by == "algorithm" else table.tasks) < 2:
        return None
    try:
        return rank(table, by=by, level=LEVEL)
    except ScoreDataError as error:
        warnings.warn(str(error), DegenerateScoresWarning, stacklevel=2)
        return None


def _rules(board: Board, table: ScoreTable) -> tuple[Mapping[str, Any], ...]:
    """Return the rules, hardest first."""
    ranking = _ranking(table, "task")
    if ranking is None:
        return tuple(_rule_record(name, hidden) for name, hidden in board.rules.items())
    return tuple(
        _rule_record(r["name"], board.rules[r["name"]], r["rank_low"], r["rank_high"], r["tiers"])
        for r in ranking.as_records()
    )


def _rule_record(
    name: str,
    hidden: bool,
    rank_low: int | None = None,
    rank_high: int | None = None,
    groups: Sequence[int] = (),
) -> Mapping[str, Any]:
    return {
        "name": name,
        "hidden": hidden,
        "rank_low": rank_low,
        "rank_high": rank_high,
        "groups": list(groups),
    }


def _gaps(board: Board, table: ScoreTable) -> dict[str, Difference]:
    """Return for each entry its errors on hidden rules minus those on public ones."""
    hidden = [rule for rule, is_hidden in board.rules.items() if is_hidden]
    public = [rule for rule, is_hidden in board.rules.items() if not is_hidden]
    if not hidden or not public:
        return {}
    on_hidden = _estimates(table.select(tasks=hidden), ["mean"], board)
    on_public = _estimates(table.select(tasks=public), ["mean"], board)
    return {
        name: difference(on_hidden[name, "mean"], on_public[name, "mean"])
        for name in table.algorithms
    }


def difference(a: Estimate, b: Estimate) -> Difference:
    """Return a minus b, two independent estimates, with an interval from theirs.

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27: 1693-1702 (MOVER).
    """
    value = a.value - b.value
    low = value - math.hypot(a.value - a.low, b.high - b.value)
    high = value + math.hypot(a.high - a.value, b.value - b.low)
    return Difference(*(x if math.isfinite(x) else None for x in (value, low, high)))
