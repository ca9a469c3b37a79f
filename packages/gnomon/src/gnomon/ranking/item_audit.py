"""Audits of evaluations: missing scores, repeated items, and items that do not separate models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnomon.errors import counted, listed
from gnomon.results import FieldRecord
from gnomon.scores.checks import statuses
from gnomon.scores.columns import Rows
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.vote_ratings import Votes

#: The headings of the sections.
ITEM_TITLES = {
    "table": "What the evaluation contains",
    "missing": "Missing scores and their effect",
    "order": "Could missing scores change the order?",
    "duplicates": "Are items repeated?",
    "discrimination": "Do the items separate the models?",
    "range": "Ceilings and floors",
}
#: A mean within this distance of an end of the scale is at the ceiling or floor.
NEAR_END = 0.05
#: Least number of models that show the discrimination of an item.
LEAST_MODELS = 3
#: Number of random tables with the totals of the real one.
N_TABLES = 20
#: Quantile of the random tables below which an item is far below chance.
RARE = 0.001
#: Number of items that a sentence names.
MOST_ITEMS = 8

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Statement(FieldRecord):
    """One statement of an audit: its section, its subject, a sentence, and the number behind it."""

    section: str
    name: str
    finding: str
    value: float | None = None


def item_statements(table: ScoreTable, rng: np.random.Generator) -> tuple[Statement, ...]:
    """Return the statements on an evaluation; `rng` draws the tables that show chance alone."""
    if (votes := Votes.of(table)) is not None:
        return tuple(_of_votes(votes))
    matrix = table.means()
    is_share = bool(np.all(np.isnan(matrix) | ((matrix >= 0.0) & (matrix <= 1.0))))
    is_share &= not np.isnan(matrix).all()
    full = np.flatnonzero(~np.isnan(matrix).any(axis=0))
    answers = matrix[:, full]
    names, drawn = np.array([*table.tasks, ""], dtype=object)[full], list[FloatArray]()
    if len(matrix) > 1 and full.size:
        # The same tables whatever the order of models and items.
        models, items = np.argsort(table.algorithms), np.argsort(names)
        found = _random_tables(answers[np.ix_(models, items)], rng)
        drawn = [one[:, np.argsort(items)] for one in found]
    return (
        *(Statement("table", "contents", line) for line in str(table).splitlines()[:2]),
        *_missing(table, matrix, is_share),
        *_texts(table.rows),
        *_copies(names, answers, drawn),
        *_ease(names, answers, is_share, table.higher_is_better),
        *_discrimination(names, answers, drawn),
        *(_range(table.algorithms, matrix) if is_share else ()),
    )


def _of_votes(votes: Votes) -> Iterator[Statement]:
    """Yield the number of votes, pairs without votes, and models without a finite rating."""
    n, names = len(votes.share), np.array(votes.names, dtype=object)
    text = f"{len(names)} models, {counted(n, 'vote')}"
    if votes.n_voters is not None:
        text += f" of {counted(votes.n_voters, 'voter')}"
    yield Statement("table", "contents", text, float(n))
    ties = int(np.count_nonzero(votes.share == 0.5))
    yield Statement("table", "ties", f"{ties:,} of {n:,} votes are ties", ties / n)
    pairs = math.comb(len(names), 2)
    apart = pairs - int(np.count_nonzero(np.triu(votes.wins + votes.wins.T)))
    text = f"{apart:,} of {counted(pairs, 'pair')} of models have no votes"
    text = text if apart else f"All {counted(pairs, 'pair')} of models have votes"
    yield Statement("missing", "pairs", text, float(apart))
    unrated = np.delete(names, votes.rated)
    if unrated.size:
        text = "No finite rating, since chains of wins do not connect them in both directions"
        text += _named(unrated)
        yield Statement("missing", "ratings", text, float(unrated.size))


def _named(names: npt.NDArray[Any]) -> str:
    return f" ({listed(names.tolist()[: MOST_ITEMS + 1], MOST_ITEMS)})" if names.size else ""


def _missing(table: ScoreTable, matrix: FloatArray, is_share: bool) -> Iterator[Statement]:
    """Yield for each model the items without a score, the reasons, and the effect on its mean."""
    rows, n_items = table.rows, matrix.shape[1]
    absent, model = np.isnan(matrix), rows["algorithm"].codes
    shared, complete = ~absent.any(axis=0), True
    for at, name in enumerate(table.algorithms):
        own = rows.take(model == at)
        without = np.isnan(own["score"])
        n = n_items - np.unique(own["task"].codes).size
        reasons = [f"{counted(n, 'item')} without a sample"] if n else []
        reasons += _statuses(own.take(without), "without a score")
        if "status" in rows:
            odd = ~without & ~own.texts("status").isin(["ok"])
            reasons += _statuses(own.take(odd), "with a score despite its status")
        if not reasons:
            continue
        complete, n_absent = False, int(absent[at].sum())
        text = f"{name}: {n_absent:,} of {counted(n_items, 'item')} without a score"
        text += f"; {', '.join(reasons)}"
        x = matrix[at, ~absent[at]]
        if 0 < x.size < n_items:
            text += f"; mean {x.mean():.4g} over its own items"
            if shared.any():
                text += f", {matrix[at, shared].mean():.4g} over {shared.sum():,} shared ones"
            text += f", {x.sum() / n_items:.4g} if the others count as 0" if is_share else ""
        yield Statement("missing", name, text, float(n_absent))
    if complete:
        yield Statement("missing", "none", "No score is missing", 0.0)
    elif is_share and not absent.all(axis=1).any():
        yield _unsure_order(table.algorithms, matrix)


def _unsure_order(names: Sequence[str], matrix: FloatArray) -> Statement:
    """Count the pairs whose order would change if missing scores were the worst and the best."""
    mean = np.nanmean(matrix, axis=1)
    low, high = (np.nan_to_num(matrix, nan=end).mean(axis=1) for end in (0.0, 1.0))
    pairs = np.argwhere((mean[:, None] > mean) & (low[:, None] < high))
    text = "Missing scores cannot change the order of any two models"
    if len(pairs):
        shown = listed([f"{names[i]} and {names[j]}" for i, j in pairs], MOST_ITEMS)
        text = f"Missing scores could change the order of {counted(len(pairs), 'pair')} ({shown})"
    return Statement("order", "pairs", text, float(len(pairs)))


def _statuses(rows: Rows, what: str) -> list[str]:
    """Return how many samples there are of each status, if there are any."""
    if not len(rows):
        return []
    text = f"{counted(len(rows), 'sample')} {what}"
    if "status" not in rows:
        return [text]
    return [f"{text} ({statuses(rows)})"]


def _texts(rows: Rows) -> Iterator[Statement]:
    """Yield the items that have the same text as another."""
    if "input_hash" not in rows:
        return
    task, text = rows["task"], rows.texts("input_hash")
    pairs = np.unique(np.array([text.codes, task.codes])[:, ~text.missing], axis=1)
    groups = np.split(pairs[1], np.flatnonzero(np.diff(pairs[0])) + 1)
    alike = sorted((np.sort(group) for group in groups if group.size > 1), key=lambda g: int(g[0]))
    n = sum(group.size - 1 for group in alike)
    named = listed([" = ".join(task.names[i] for i in g[:3]) for g in alike[:9]], MOST_ITEMS)
    found = f"{counted(n, 'item')} with the text of an earlier item ({named})"
    yield Statement("duplicates", "texts", found if n else "No two items have the same text", n)


def _copies(
    names: npt.NDArray[Any], answers: FloatArray, drawn: list[FloatArray]
) -> Iterator[Statement]:
    """Yield the number of pairs of items that have the same scores from all models."""
    varied = answers.min(axis=0, initial=np.inf) < answers.max(axis=0, initial=-np.inf)
    if varied.sum() < 2 or len(answers) < 2:
        return
    kept, names = answers[:, varied], names[varied]
    what = "Identical scores from all models"
    group, size = _groups(kept)
    n = _n_pairs(size)
    text = f"{what}: {counted(n, 'pair')} of items"
    chance = [_n_pairs(_groups(table[:, varied])[1]) for table in drawn]
    if drawn:
        text += f"; random tables with the same totals have {np.mean(chance):,.1f} "
        text += f"({min(chance):,} to {max(chance):,})"
    elif n:
        text += "; not compared with chance: few other tables have the same totals"
    if n > max(chance, default=0):
        alike = [np.flatnonzero(group == g) for g in np.flatnonzero(size > 1)[: MOST_ITEMS + 1]]
        text += "; possible copies: " if drawn else "; "
        text += listed([" = ".join(names[i] for i in places[:3]) for places in alike], MOST_ITEMS)
    yield Statement("duplicates", "scores", text, float(n))


def _groups(answers: FloatArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the group of each item among those with equal scores, and the size of each group."""
    rows: npt.NDArray[Any] = np.ascontiguousarray(answers.T)
    if np.isin(answers, (0.0, 1.0)).all():
        rows = np.packbits(rows.astype(np.bool_), axis=1)
    whole = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    _, group, size = np.unique(whole, return_inverse=True, return_counts=True)
    return group, size


def _n_pairs(size: npt.NDArray[np.int64]) -> int:
    return int((size * (size - 1) // 2).sum())


def _ease(
    names: npt.NDArray[Any], answers: FloatArray, is_share: bool, higher_is_better: bool
) -> Iterator[Statement]:
    """Yield the items that do not separate any two models."""
    if len(answers) < 2 or not names.size:
        return
    same = answers.min(axis=0) == answers.max(axis=0)
    groups = {"same score": (same, "Same score from all models")}
    if is_share:
        best = answers[0] == (1.0 if higher_is_better else 0.0)
        worst = answers[0] == (0.0 if higher_is_better else 1.0)
        groups = {
            "solved by all": (same & best, "Solved by all models"),
            "solved by none": (same & worst, "Solved by no model"),
        }
    for name, (there, words) in groups.items():
        text = f"{words}: {there.sum():,} of {counted(names.size, 'item')}{_named(names[there])}"
        yield Statement("discrimination", name, text, float(there.sum()))


def _discrimination(
    names: npt.NDArray[Any], answers: FloatArray, drawn: list[FloatArray]
) -> Iterator[Statement]:
    """Yield on how many items the better models do worse, and how many chance alone gives."""
    if len(answers) < LEAST_MODELS:
        text = f"Item-rest correlations: not checked, fewer than {LEAST_MODELS} models"
        yield Statement("discrimination", "not checked", text)
        return
    found = _item_rest_correlations(answers)
    negative, known = int((found < 0.0).sum()), int((~np.isnan(found)).sum())
    lowest = names[np.argsort(found, kind="stable")[:negative]]
    text = f"Negative item-rest correlation: {negative:,} of {counted(known, 'varying item')}"
    if not drawn or not known:
        yield Statement("discrimination", "negative", text + _named(lowest), float(negative))
        return
    chance = np.array([_item_rest_correlations(table) for table in drawn])
    n = (chance < 0.0).sum(axis=1)
    text += f"; random tables with the same totals have {n.mean():,.1f} "
    text += f"({n.min():,} to {n.max():,})"
    yield Statement("discrimination", "negative", text, float(negative))
    chance = chance[~np.isnan(chance)]
    odd = int((found < np.quantile(chance, RARE)).sum()) if chance.size else 0
    text = f"Far below chance: {counted(odd, 'item')}, {RARE * known:.2g} expected"
    text += f"; check their reference answers{_named(lowest[:odd])}" if odd else ""
    yield Statement("discrimination", "far below chance", text, float(odd))


def _item_rest_correlations(matrix: FloatArray) -> FloatArray:
    """Return the correlation over models of each item with the mean of all other items.

    NaN where all models have the same score, on the item or on the others.
    """
    rest = matrix.sum(axis=1, keepdims=True) - matrix
    rest -= rest.mean(axis=0)
    own = matrix - matrix.mean(axis=0)
    scale = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
    tiny = scale <= 1e-12 * max(1.0, float(np.abs(matrix).max(initial=0.0)) * matrix.shape[1])
    return np.where(tiny, np.nan, (own * rest).sum(axis=0) / np.where(tiny, 1.0, scale))


def _random_tables(matrix: FloatArray, rng: np.random.Generator) -> list[FloatArray]:
    """Return tables with the totals of the real one, none if most items are the same in all.

    That is so for scores with many values, whose differences are seldom equal.
    """
    drawn = [_same_totals(matrix, rng) for _ in range(N_TABLES)]
    if np.isin(matrix, (0.0, 1.0)).all():
        return drawn
    varied = matrix.min(axis=0) < matrix.max(axis=0)
    changed = np.any([(table != matrix).any(axis=0) for table in drawn], axis=0)
    return drawn if changed.sum() > varied.sum() / 2.0 else []


def _same_totals(matrix: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a random table with the same totals of models, and the same scores of each item.

    All of them are equally likely if every item measures one ability (Rasch; with several grades
    the partial credit model of Masters 1982). Two models trade their scores of items, as many
    upwards as downwards of each size; if scores are right or wrong, the items that only one of the
    two has solved (Strona et al. 2014, "curveball").
    """
    drawn = matrix.copy()
    for _ in range(5 * len(drawn)):
        a, b = rng.choice(len(drawn), 2, replace=False)
        apart = np.flatnonzero(drawn[a] != drawn[b])
        lead = drawn[a, apart] - drawn[b, apart]
        size = np.round(np.abs(lead), 9)
        # Items of each size in random order get the leads of this size, the positive ones first.
        order = rng.permutation(apart.size)
        order = order[np.argsort(size[order], kind="stable")]
        leads = np.empty(apart.size, np.bool_)
        leads[order] = (lead > 0.0)[np.lexsort((lead < 0.0, size))]
        traded = apart[leads != (lead > 0.0)]
        drawn[np.ix_([a, b], traded)] = drawn[np.ix_([b, a], traded)]
    return drawn


def _range(models: Sequence[str], matrix: FloatArray) -> Iterator[Statement]:
    """Yield the models whose mean is near to an end of the scale."""
    known = ~np.isnan(matrix)
    with np.errstate(invalid="ignore"):
        means = np.where(known, matrix, 0.0).sum(axis=1) / known.sum(axis=1)
    ends = {"ceiling": means >= 1.0 - NEAR_END, "floor": means <= NEAR_END}
    for word, near in ends.items():
        if near.any():
            names = [name for name, is_near in zip(models, near, strict=True) if is_near]
            of, end = counted(len(means), "model"), int(word == "ceiling")
            text = f"{word.capitalize()}: {len(names)} of {of} within {NEAR_END:g} of {end} "
            text += f"({listed(names)}); {'harder' if end else 'easier'} items would separate them "
            text += "better"
            yield Statement("range", word, text, float(len(names)))
    if not any(near.any() for near in ends.values()):
        text = f"No ceiling or floor: means from {np.nanmin(means):.4g} to {np.nanmax(means):.4g}"
        yield Statement("range", "none", text, 0.0)
