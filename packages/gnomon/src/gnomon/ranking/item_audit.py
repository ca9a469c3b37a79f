"""Audits of evaluations: what its items hold and lack, and which of them tell models apart."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from gnomon.errors import counted, listed
from gnomon.results import FieldRecord, Results
from gnomon.scores.items import ItemScores
from gnomon.scores.table import FloatArray, ScoreTable

#: What each section is called on a page.
ITEM_TITLES = {
    "table": "What the evaluation holds",
    "missing": "What is missing, and what it may change",
    "epochs": "Do epochs differ?",
    "duplicates": "Are items there twice?",
    "discrimination": "Do the items tell models apart?",
    "range": "Ceilings and floors",
    "scorers": "Does the score depend on the scorer?",
}
#: Models with a mean so near to an end of the scale cannot be told apart by the items.
NEAR_END = 0.05
#: Two scorers disagree on a sample if their scores differ by more.
FAR_SCORERS = 0.5
#: So few models tell nothing about an item.
LEAST_MODELS = 3
#: Tables drawn with the totals of the real one.
N_TABLES = 20
#: Of items in such tables so many have a correlation that is far below chance.
RARE = 0.001
#: Items that a sentence names.
MOST_ITEMS = 8

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Statement(FieldRecord):
    """One statement of an audit.

    Parameters
    ----------
    section : str
        ``table``, ``estimates``, ``ranks``, ``metrics``, ``agreement`` or ``runs``; of an
        evaluation ``table``, ``missing``, ``epochs``, ``duplicates``, ``discrimination``, ``range``
        or ``scorers``.
    name : str
        What it is about.
    finding : str
        It, in words.
    value : float or None
        The number behind it, if there is one.

    Examples
    --------
    >>> Statement("ranks", "a", "rank 1 to 2").finding
    'rank 1 to 2'
    """

    section: str
    name: str
    finding: str
    value: float | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ItemAudit(Results[Statement]):
    """Statements of the audit of an evaluation, section by section.

    Parameters
    ----------
    table : ScoreTable
        Of items.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = {"a": [[1.0, 1.0, 0.0]], "b": [[1.0, 0.0, 0.0]]}
    >>> found = gn.audit(gn.ScoreTable.from_arrays(scores, units="items"))
    >>> [one.finding for one in found if one.name == "solved by all"]
    ['solved by all models: 1 of 3 items, which tell none apart (task_0)']
    """

    table: ScoreTable

    columns: ClassVar[tuple[str, ...]] = ("section", "finding")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the data did not allow."""
        return self.warnings

    def to_text(self, width: int = 200) -> str:
        """Return the statements as text, section by section, and then the notes."""
        parts = [
            (title, [one.finding for one in self if one.section == section])
            for section, title in ITEM_TITLES.items()
        ]
        parts += [("Notes", list(self.notes))]
        return "\n\n".join(
            "\n".join([title, "-" * len(title), *lines]) for title, lines in parts if lines
        )

    def page(self, title: str = "Audit") -> Any:
        """Return the page of the audit; its ``save(folder)`` writes it."""
        made: Any = pkgutil.resolve_name("gnomon.reports.audit_page:item_audit_report")(self, title)
        return made


def item_statements(table: ScoreTable, rng: np.random.Generator) -> tuple[Statement, ...]:
    """Return what is to be said of an evaluation.

    Parameters
    ----------
    table : ScoreTable
        Of items, without steps.
    rng : numpy.random.Generator
        Source of the tables that show what chance alone gives.
    """
    scores = table.item_scores
    matrix = scores.matrix()
    is_share = _within_0_and_1(matrix)
    return (
        *(Statement("table", "contents", line) for line in table.describe().splitlines()[:2]),
        *_on_missing(table, matrix, is_share),
        *_on_epochs(scores),
        *_on_texts(table.to_polars()),
        *_on_patterns(scores, matrix),
        *_on_ease(scores, matrix, is_share, table.higher_is_better),
        *_on_discrimination(scores, matrix, rng),
        *(_on_range(scores, matrix) if is_share else ()),
        *_on_scorers(table, is_share),
    )


def _within_0_and_1(values: FloatArray) -> bool:
    known = values[~np.isnan(values)]
    return bool(known.size and known.min() >= 0.0 and known.max() <= 1.0)


def _on_missing(table: ScoreTable, matrix: FloatArray, is_share: bool) -> list[Statement]:
    """Say of each model which items it has no score on, why, and how its mean depends on that."""
    absent = np.isnan(matrix)
    shared = ~np.any(absent, axis=0, keepdims=True)[0]
    found, frame = [], table.to_polars()
    for at, name in enumerate(table.algorithms):
        rows = frame.filter(pl.col("algorithm") == name)
        reasons = _reasons(rows, absent.shape[1])
        if not reasons:
            continue
        n = int(absent[at].sum())
        text = f"{name}: {n:,} of {counted(absent.shape[1], 'item')} without a score"
        text += f"; {', '.join(reasons)}{_means(matrix[at], shared, is_share)}"
        found.append(Statement("missing", name, text, float(n)))
    return found or [Statement("missing", "none", "every sample has a score, of every model", 0.0)]


def _means(own: FloatArray, shared: BoolArray, is_share: bool) -> str:
    """Say what the mean of a model is over its own items, and over others, if that differs."""
    known = own[~np.isnan(own)]
    if not known.size or known.size == own.size:
        return ""
    text = f"; mean {known.mean():.4g} over its own items"
    if shared.any():
        text += f", {own[shared].mean():.4g} over the {shared.sum():,} that all have"
    return text + (f", {known.sum() / own.size:.4g} if the others count as 0" if is_share else "")


def _reasons(rows: pl.DataFrame, n_items: int) -> list[str]:
    """Return why a model lacks scores, and what befell samples that have one all the same."""
    n = n_items - rows["task"].n_unique()
    found = [f"{counted(n, 'item')} without a sample"] if n else []
    without = pl.col("score").is_nan()
    found += _by_status(rows.filter(without), "without a score")
    if "status" in rows.columns:
        odd = rows.filter(~without & (pl.col("status").cast(pl.String) != "ok"))
        found += _by_status(odd, "scored all the same")
    return found


def _by_status(rows: pl.DataFrame, what: str) -> list[str]:
    """Return how many samples there are of each status, if there are any."""
    if rows.is_empty():
        return []
    text = f"{counted(rows.height, 'sample')} {what}"
    if "status" not in rows.columns:
        return [text]
    counts = rows["status"].cast(pl.String).fill_null("unknown").value_counts().sort("status")
    return [f"{text} ({', '.join(f'{n} {name}' for name, n in counts.iter_rows())})"]


def _on_epochs(scores: ItemScores) -> list[Statement]:
    """Say on how many items the epochs of a model differ."""
    if scores.n_epochs < 2:
        return []
    found = []
    for name in scores.models:
        runs = scores.epochs(name)
        several = (~np.isnan(runs)).sum(axis=1) > 1
        if not several.any():
            continue
        spread = np.nanmax(runs[several], axis=1) > np.nanmin(runs[several], axis=1)
        n, total = int(spread.sum()), int(several.sum())
        text = f"{name}: epochs differ on {n:,} of {counted(total, 'item')}"
        text += "" if n else ": asking again tells nothing new"
        found.append(Statement("epochs", name, text, float(n)))
    return found


def _on_texts(frame: pl.DataFrame) -> list[Statement]:
    """Say which items have the same text."""
    if "input_hash" not in frame.columns:
        return []
    items = frame.select("task", "input_hash").drop_nulls().unique(maintain_order=True)
    groups = (
        items.group_by("input_hash", maintain_order=True)
        .agg(pl.col("task"), pl.len().alias("n"))
        .filter(pl.col("n") > 1)
    )
    if groups.is_empty():
        return [Statement("duplicates", "texts", "no two items have the same text", 0.0)]
    surplus = int(groups["n"].sum()) - groups.height
    named = listed([" = ".join(names[:3]) for names in groups["task"].to_list()], MOST_ITEMS)
    text = (
        f"the same text: {counted(surplus, 'item')} beside the first of each text ({named}); "
        "they are no items of their own, unless something differs that the text does not show"
    )
    return [Statement("duplicates", "texts", text, float(surplus))]


def _on_patterns(scores: ItemScores, matrix: FloatArray) -> list[Statement]:
    """Say which items have the same scores of all models, where chance gives no such pair."""
    full = ~np.isnan(matrix).any(axis=0) & (matrix.min(axis=0) < matrix.max(axis=0))
    kept = matrix[:, full]
    if kept.shape[1] < 2:
        return []
    by_chance = _chance_pairs(kept)
    _, group, size = np.unique(kept, axis=1, return_inverse=True, return_counts=True)
    n = int((size * (size - 1) // 2).sum())
    if by_chance >= 1.0:
        why = (
            f"the same scores of all models: not asked, since {len(scores.models)} models give "
            f"many items the same by chance"
        )
        return [Statement("duplicates", "scores", why)]
    names = [scores.items[i] for i in np.flatnonzero(full)]
    alike = [np.flatnonzero(group.ravel() == g) for g in np.flatnonzero(size > 1)[:MOST_ITEMS]]
    named = listed([" = ".join(names[i] for i in places[:3]) for places in alike], MOST_ITEMS)
    text = f"the same scores of all models: {counted(n, 'pair')} of items"
    text += f" ({named}), where chance gives {by_chance:.2g}: they may be copies" if n else ""
    return [Statement("duplicates", "scores", text, float(n))]


def _chance_pairs(matrix: FloatArray) -> float:
    """Return how many pairs of items have the same scores if models score independently."""
    n = matrix.shape[1]
    counts = [np.unique(scores, return_counts=True)[1] for scores in matrix]
    alike = np.prod([((k / n) ** 2).sum() for k in counts])
    return float(n * (n - 1) / 2 * alike)


def _on_ease(
    scores: ItemScores, matrix: FloatArray, is_share: bool, higher_is_better: bool
) -> list[Statement]:
    """Say how many items tell no model apart."""
    full = ~np.isnan(matrix).any(axis=0)
    n = int(full.sum())
    if len(scores.models) < 2 or not n:
        return []
    same = full & (matrix.min(axis=0) == matrix.max(axis=0))
    if not is_share:
        return [_same("scored alike by all", "scored alike by all models", same, n, scores)]
    best = 1.0 if higher_is_better else 0.0
    return [
        _same("solved by all", "solved by all models", same & (matrix[0] == best), n, scores),
        _same("solved by none", "solved by no model", same & (matrix[0] == 1.0 - best), n, scores),
    ]


def _same(name: str, words: str, there: BoolArray, n: int, scores: ItemScores) -> Statement:
    k = int(there.sum())
    text = f"{words}: {k:,} of {counted(n, 'item')}"
    if k:
        text += f", which tell none apart ({_named(scores, np.flatnonzero(there))})"
    return Statement("discrimination", name, text, float(k))


def _named(scores: ItemScores, places: npt.NDArray[np.int64]) -> str:
    shown = [scores.items[i] for i in places[:MOST_ITEMS]]
    return ", ".join(shown) + (", ..." if len(places) > MOST_ITEMS else "")


def _on_discrimination(
    scores: ItemScores, matrix: FloatArray, rng: np.random.Generator
) -> list[Statement]:
    """Say on how many items the better models do worse, and how many chance alone gives."""
    k = len(scores.models)
    if k < LEAST_MODELS:
        text = f"item-rest correlations: not asked of fewer than {LEAST_MODELS} models"
        return [Statement("discrimination", "not asked", text)]
    full = np.flatnonzero(~np.isnan(matrix).any(axis=0))
    kept = matrix[:, full]
    found = item_rest_correlations(kept)
    negative, known = int((found < 0.0).sum()), int((~np.isnan(found)).sum())
    text = f"negative item-rest correlation: {negative:,} of {counted(known, 'item')} that differ"
    lowest = full[np.argsort(found, kind="stable")[:negative]]
    if not np.isin(kept, (0.0, 1.0)).all() or not known:
        text += f" (lowest: {_named(scores, lowest)})" if negative else ""
        return [Statement("discrimination", "negative", text, float(negative))]
    drawn = np.array([item_rest_correlations(_drawn(kept, rng)) for _ in range(N_TABLES)])
    by_chance = (drawn < 0.0).sum(axis=1)
    text += (
        f", where chance gives {by_chance.min():,} to {by_chance.max():,} in {N_TABLES} tables "
        "with the same totals of models and items"
    )
    estimable = drawn[~np.isnan(drawn)]
    odd = int((found < np.quantile(estimable, RARE)).sum()) if estimable.size else 0
    rare = f"far below chance: {counted(odd, 'item')}, where {RARE * known:.2g} would be expected"
    rare += f" ({_named(scores, lowest[:odd])}): look at their answers" if odd else ""
    return [
        Statement("discrimination", "negative", text, float(negative)),
        Statement("discrimination", "far below chance", rare, float(odd)),
    ]


def item_rest_correlations(matrix: FloatArray) -> FloatArray:
    """Return the correlation over models of each item with the mean of all other items.

    Parameters
    ----------
    matrix : ndarray of float, shape (models, items)
        Without missing scores.

    Returns
    -------
    ndarray of float, shape (items,)
        NaN where all models have the same score, on the item or on the others.

    Examples
    --------
    >>> scores = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    >>> item_rest_correlations(scores).round(2)
    array([ 0.5,  0.5, -0.5])
    """
    rest = matrix.sum(axis=1, keepdims=True) - matrix
    rest -= rest.mean(axis=0)
    own = matrix - matrix.mean(axis=0)
    scale = np.sqrt((own**2).sum(axis=0) * (rest**2).sum(axis=0))
    tiny = scale <= 1e-12 * max(1.0, float(np.abs(matrix).max(initial=0.0)) * matrix.shape[1])
    # A scale of nothing but rounding is none.
    return np.where(tiny, np.nan, (own * rest).sum(axis=0) / np.where(tiny, 1.0, scale))


def _drawn(matrix: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return a binary table drawn from all with the same totals of models and items.

    If every item measures one ability (Rasch), all of them are equally likely. They are drawn by
    trades between two models of the items that one alone has solved (Strona et al. 2014,
    "curveball").
    """
    drawn = matrix.astype(np.bool_)
    k = len(drawn)
    for _ in range(5 * k):
        a, b = rng.choice(k, 2, replace=False)
        apart = np.flatnonzero(drawn[a] != drawn[b])
        solved = int(drawn[a, apart].sum())
        drawn[a, apart] = False
        drawn[a, rng.permutation(apart)[:solved]] = True
        drawn[b, apart] = ~drawn[a, apart]
    return drawn.astype(np.float64)


def _on_range(scores: ItemScores, matrix: FloatArray) -> list[Statement]:
    """Say which models are near to an end of the scale."""
    known = ~np.isnan(matrix)
    with np.errstate(invalid="ignore"):
        means = np.where(known, matrix, 0.0).sum(axis=1) / known.sum(axis=1)
    found = []
    for word, near in (("ceiling", means >= 1.0 - NEAR_END), ("floor", means <= NEAR_END)):
        names = [name for name, is_near in zip(scores.models, near, strict=True) if is_near]
        if names:
            text = (
                f"{word}: {len(names)} of {counted(len(means), 'model')} within {NEAR_END:g} of "
                f"{'1' if word == 'ceiling' else '0'} ({listed(names)}): harder or easier items "
                "would tell them apart better"
            )
            found.append(Statement("range", word, text, float(len(names))))
    if not found:
        low, high = np.nanmin(means), np.nanmax(means)
        text = f"means from {low:.4g} to {high:.4g}: no model is near to an end of the scale"
        return [Statement("range", "none", text, 0.0)]
    return found


def _on_scorers(table: ScoreTable, is_share: bool) -> list[Statement]:
    """Say of each other score of the log how far it agrees with the one that is audited."""
    found, frame = [], table.to_polars()
    for column in table.attributes:
        if not column.startswith("metrics."):
            continue
        name = column.removeprefix("metrics.")
        other = frame[column].cast(pl.Float64, strict=False).fill_nan(None)
        if not is_share or not other.drop_nulls().is_between(0.0, 1.0).all():
            text = f"{name}: on another scale than {table.metric}, not compared"
            found.append(Statement("scorers", name, text))
            continue
        both = frame.select("algorithm", "task", "score", other.alias("other"))
        found.append(_on_scorer(both.drop_nulls().filter(~pl.col("score").is_nan()), name, table))
    return found


def _on_scorer(both: pl.DataFrame, name: str, table: ScoreTable) -> Statement:
    """Say on how many samples two scores disagree, and whether they order models alike."""
    far = both.filter((pl.col("score") - pl.col("other")).abs() > FAR_SCORERS)
    text = (
        f"{name}: differs from {table.metric} by more than {FAR_SCORERS:g} on {far.height:,} of "
        f"{counted(both.height, 'sample')}"
    )
    if far.height:
        items = far.group_by("task", maintain_order=True).len().sort("len", descending=True)
        text += f" ({listed(items['task'].to_list(), MOST_ITEMS)})"
    means = both.group_by("algorithm", maintain_order=True).agg(
        pl.col("score").mean(), pl.col("other").mean()
    )
    orders = [
        means.sort(by, descending=True, maintain_order=True)["algorithm"].to_list()
        for by in ("score", "other")
    ]
    if orders[0] != orders[1]:
        text += f"; by it the order of models is {' > '.join(orders[1][:MOST_ITEMS])}"
    return Statement("scorers", name, text, float(far.height))
