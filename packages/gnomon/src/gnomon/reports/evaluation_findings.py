"""From a table of items to the numbers that its report prints: each is computed here, and once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.ranking import ItemAudit, Ranking, audit, rank
from gnomon.results import FieldRecord, noted
from gnomon.scores.table import ScoreTable
from gnomon.stats import CostFront, ItemComparison, ItemComparisons, ItemEstimates, cost_front
from gnomon.stats.comparison import chosen_pair
from gnomon.stats.costs import cost_columns
from gnomon.stats.item_results import compare_items, estimate_items
from gnomon.stats.items import Items

#: So many items are shown of those on which two models differ.
MOST_ITEMS = 20
#: Columns in which the text of an item may stand; the first that there is.
_TEXTS = ("input", "question", "prompt", "problem", "text")
#: Costs that a page tells of, one of each kind.
_KINDS = (("total_tokens", "output_tokens"), ("cost",), ("working_time_s", "time_s"))


@dataclass(frozen=True)
class DecidingItem(FieldRecord):
    """An item on which two models differ.

    Parameters
    ----------
    item : str
    a, b, difference : float
        The means of both models over their epochs, and the first less the second.
    others : float
        The mean of all other models on it; NaN if there are none.
    text : str
        How the text of the item begins, or, of prompts, ends; empty if the log has none.
    """

    item: str
    a: float
    b: float
    difference: float
    others: float
    text: str


@dataclass(frozen=True, eq=False)
class EvaluationFindings:
    """All numbers of the report of an evaluation.

    Parameters
    ----------
    table : ScoreTable
        Of items, the models in the order of their means.
    level : float
    estimates : ItemEstimates
        The mean of each model.
    ranking : Ranking or None
        None of a single model.
    comparisons : ItemComparisons
        Every pair, the better one first; p-values by Holm's correction.
    pair : (str, str) or None
        The two that are looked at closely: as asked for, or the first two of the ranking.
    is_planned : bool
        Whether the pair was asked for, so that its test stands by itself.
    groups : mapping from column to ItemComparisons
        The pair on all items, and on each group of them.
    items : tuple of DecidingItem
        Where the pair differs most, the first one's items first.
    n_differing : int
        On how many items it differs.
    costs : tuple of CostFront
    audit : ItemAudit
    warnings : tuple of str
    """

    table: ScoreTable
    level: float
    estimates: ItemEstimates
    ranking: Ranking | None
    comparisons: ItemComparisons | None
    pair: tuple[str, str] | None
    is_planned: bool
    groups: Mapping[str, ItemComparisons]
    items: tuple[DecidingItem, ...]
    n_differing: int
    costs: tuple[CostFront, ...]
    audit: ItemAudit
    warnings: tuple[str, ...]

    @property
    def closest(self) -> ItemComparison | None:
        """The comparison of the pair on all items that both have."""
        for one in self.comparisons or ():
            if isinstance(one, ItemComparison) and {one.a, one.b} == {*(self.pair or ())}:
                return one
        return None

    def is_separated(self, one: ItemComparison) -> bool:
        """Return whether a test tells a pair apart, corrected over all unless it was asked for."""
        return (one.p_value if self.is_planned else one.p_adjusted) <= 1.0 - self.level


def evaluation_findings(
    table: ScoreTable,
    *,
    pair: tuple[str, str] | None = None,
    by: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
) -> EvaluationFindings:
    """Compute all numbers of the report of an evaluation.

    Parameters
    ----------
    table : ScoreTable
        Of items, without steps.
    pair : (str, str), optional
        Two models to look at closely; the first two of the ranking, if not given.
    by : sequence of str
        Columns whose groups of items are compared; subtasks and clusters, if there are none.
    level : float
    seed : int
        Of the audit.

    Raises
    ------
    UnknownNameError
        There is no such model or column.
    """
    asked = None if pair is None else chosen_pair(table, *pair)
    with noted() as notes:
        estimates = estimate_items(table, "mean", level=level)
        table = _in_order(table, estimates)
        several = len(table.algorithms) > 1
        ranking = rank(table, level=level) if several else None
        comparisons = compare_items(table, None, level=level) if several else None
        chosen = asked or (ranking.names[:2] if ranking is not None else None)
        two = None if chosen is None else (chosen[0], chosen[1])
        groups = _groups(table, two, by, level)
        items, n_differing = _deciding(table, two)
        costs = tuple(
            cost_front(table, column, level=level, estimates=cast(Any, estimates.records))
            for column in _told(cost_columns(table))
        )
    made = [estimates, comparisons, *groups.values(), *costs]
    told = [*notes, *(note for one in made if one is not None for note in one.warnings)]
    found = cast(ItemAudit, audit(table, rng=seed))
    # The same is told of all models and of a pair.
    once = {note.partition(": ")[2] or note: note for note in reversed([*told, *found.warnings])}
    warnings = tuple(reversed(once.values()))
    pairs = ranking, comparisons, two, asked is not None
    parts = groups, items, n_differing, costs
    return EvaluationFindings(table, level, estimates, *pairs, *parts, found, warnings)


def _in_order(table: ScoreTable, estimates: ItemEstimates) -> ScoreTable:
    """Return the table with the best model first."""
    sign = -1.0 if table.higher_is_better else 1.0
    value = {one.algorithm: sign * one.value for one in estimates}
    names = sorted(table.algorithms, key=lambda name: (np.isnan(value[name]), value[name]))
    place = table.rows["algorithm"].mapped([names.index(name) for name in table.algorithms], 0)
    return replace(table, rows=table.rows.take(np.argsort(place, kind="stable")))


def _groups(
    table: ScoreTable, pair: tuple[str, str] | None, by: Sequence[str], level: float
) -> dict[str, ItemComparisons]:
    """Return the pair on groups of items: of the columns asked for, or subtasks and clusters."""
    usual = [column for column in ("subtask", table.cluster) if column in table.attributes]
    found: dict[str, ItemComparisons] = {}
    for column in dict.fromkeys([*by] or [str(name) for name in usual]):
        if pair is None or (not by and len(table.rows.texts(column).names) < 2):
            continue
        try:
            found[column] = compare_items(table, pair, "mean", by=column, level=level)
        except ScoreDataError:
            # Nobody asked for it: the two share no item, or items of one group alone.
            if by:
                raise
    return found


def _deciding(
    table: ScoreTable, pair: tuple[str, str] | None
) -> tuple[tuple[DecidingItem, ...], int]:
    """Return the items on which two models differ most, and on how many they differ at all.

    Of items that differ as much as others and are too many, some are taken evenly spaced, of those
    that speak for each of the two.
    """
    if pair is None:
        return (), 0
    found = Items(table)
    values = dict(zip(found.models, found.values, strict=True))
    a, b = (values[name] for name in pair)
    difference = a - b
    places = _largest(difference, MOST_ITEMS)
    places = places[np.argsort(-difference[places], kind="stable")]
    rest = np.array([values[name] for name in table.algorithms if name not in pair])
    names = [found.names[i] for i in places]
    texts = _texts(table, names)
    items = tuple(
        DecidingItem(
            item=name,
            a=float(a[i]),
            b=float(b[i]),
            difference=float(difference[i]),
            others=_mean(rest[:, i]) if rest.size else float("nan"),
            text=texts.get(name, ""),
        )
        for i, name in zip(places.tolist(), names, strict=True)
    )
    return items, int(np.count_nonzero(np.nan_to_num(difference)))


def _mean(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


def _largest(values: np.ndarray[Any, np.dtype[np.float64]], most: int) -> Any:
    """Return the places of the largest sizes above 0; of equal ones some of each sign, evenly."""
    sizes = np.abs(values)
    there = np.flatnonzero(np.nan_to_num(sizes) > 0.0)
    if there.size <= most:
        return there
    last = np.sort(sizes[there])[-most]
    above, level = there[sizes[there] > last], there[sizes[there] == last]
    n = most - above.size
    level = level[np.argsort(values[level] > 0.0, kind="stable")]
    spaced = level[np.linspace(0, level.size - 1, n).round().astype(np.int64)]
    return np.sort(np.concatenate([above, spaced]))


def _texts(table: ScoreTable, items: Sequence[str]) -> dict[str, str]:
    """Return the texts of some items, as far as the log has them."""
    column = next((name for name in _TEXTS if name in table.attributes), None)
    if column is None:
        return {}
    rows = table.rows.take(table.rows["task"].isin(items))
    pairs = zip(rows.tolist("task"), rows.texts(column).tolist(), strict=True)
    found: dict[str, str] = {}
    for item, text in pairs:
        if text is not None:
            found.setdefault(item, text)
    return found


def _told(columns: Sequence[str]) -> list[str]:
    """Return one column of each kind of cost."""
    kinds = ([name for name in kind if name in columns] for kind in _KINDS)
    return [names[0] for names in kinds if names]
