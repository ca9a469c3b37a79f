"""Claims that one algorithm is worse than another, checked: a regression gate with its error rate.

A claim is established if the whole confidence interval of the difference lies beyond its margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnomon.errors import ScoreDataError, UnknownNameError, counted, either
from gnomon.results import FieldRecord, Results, made_by, noted
from gnomon.scores.columns import Rows, Texts
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.comparison import Comparison, chosen_pair, compare
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.distributions import normal_quantile
from gnomon.stats.items import counted_as
from gnomon.tables import percent

#: What a claim about tasks may be about; of items: the mean, pass@K, pass^K.
METRICS = ("mean", "median", "iqm", IMPROVEMENT)
POWER = 0.8
#: Scores that reach this are not on the scale from 0 to 1.
_FAR = 10.0
_CLAIM = re.compile(r"(?P<a>.+) (worse|better) than (?P<b>.+)")
_MARGIN = r" by \d*\.?\d+(?:[eE]-?\d+)?"


@dataclass(frozen=True)
class ClaimCheck(FieldRecord):
    """Whether a claim is established: that one algorithm is worse than another.

    Parameters
    ----------
    claim : str
        In the words in which it was made.
    a, b : str
        The algorithm that is claimed to be worse, and the other one.
    metric, task, value, low, high, level, method, n_items
        As in :class:`~gnomon.stats.Comparison`.
    margin : float
        The claimed difference: `a` is worse by more than this.
    established : bool
        Whether the whole interval lies beyond the margin.
    error_rate : float
        Highest probability of establishing a false claim.
    detectable : float
        How much worse `a` must be for the claim to be established with a power of 0.8.
    """

    claim: str
    a: str
    b: str
    metric: str
    task: None
    value: float
    low: float
    high: float
    margin: float
    established: bool
    level: float
    error_rate: float
    detectable: float
    method: str
    n_items: int | None


@dataclass(frozen=True, eq=False, repr=False)
class ClaimChecks(Results[ClaimCheck]):
    """The checks of claims; see :func:`check_claim`."""

    columns = ("a", "b", "metric", "value", "low", "high", "margin", "established", "detectable")

    @property
    def established(self) -> bool:
        """Whether every claim is established."""
        return all(one.established for one in self)

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b, or the probability that a is better; claim: a is worse"

    @property
    def notes(self) -> tuple[str, ...]:
        """The answer, and how often it is wrong."""
        notes = []
        for one in self:
            by = f" by more than {one.margin:g}" if one.margin else ""
            verdict = "Established" if one.established else "Not established"
            notes += [
                f"{verdict}: {one.a} is worse than {one.b}{by}.",
                f"Error rate at most {percent(one.error_rate)} if {one.a} is not worse{by}; power "
                f"{POWER:g} if it is worse by {one.detectable:.3g}.",
            ]
        return tuple(notes)


def check_claim(
    scores: ScoreTable,
    claim: str | Sequence[str],
    metric: str | None = None,
    *,
    pair: tuple[str, str] | None = None,
    units: Units | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    **options: Any,
) -> ClaimChecks:
    """Check a claim that one algorithm is worse than another: a regression gate.

    The claim is established if the confidence interval of the difference lies wholly beyond the
    margin. That is a one-sided test: at level 0.95 a claim that is not true is established in about
    2.5 % of comparisons at most (2.7 for right or wrong items, from 20 on, by enumeration). A claim
    that is not established is not refuted.

    Parameters
    ----------
    scores : ScoreTable
    claim : str or sequence of str
        ``new worse than old``, ``old better than new``, ``new worse than old by 0.02``. ``A`` and
        ``B`` stand for the two of `pair`, or of a table that has two, unless they are names.
    metric : str, optional
        Of items the mean, if not given, ``pass@K`` or ``pass^K``; of tasks one of mean, median,
        iqm, probability_of_improvement, which has to be named.
    pair : (str, str), optional
        The algorithms that ``A`` and ``B`` stand for.
    units, cluster, level
        As in :func:`~gnomon.stats.compare`.
    **options
        ``paired``, ``method``, ``n_resamples``, ``rng`` of :func:`~gnomon.stats.compare`.

    Returns
    -------
    ClaimChecks
        A record for each claim.

    Raises
    ------
    ScoreDataError
        The claim cannot be read, no metric is named, there is no interval to decide by, the two
        have unlike scales, or the claim depends on samples of items that the first lacks.
    UnknownNameError
        There is no such algorithm or metric.

    Examples
    --------
    >>> scores = {"old": [[1, 1, 0, 1] * 20], "new": [[1, 1, 0, 1] * 19 + [1, 0, 0, 1]]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> (one,) = check_claim(table, "B worse than A by 0.05")
    >>> one.a, one.b, one.margin, one.established, one.error_rate
    ('new', 'old', 0.05, False, 0.025)
    """
    scores = counted_as(scores, units, cluster)
    wanted, pair = _metric(scores, metric), chosen_pair(scores, *(pair or (None, None)))
    checks: list[ClaimCheck] = []
    notes: list[str] = []
    settings: Mapping[str, Any] = {}
    for text in [claim] if isinstance(claim, str) else claim:
        a, b, margin = _read(text, scores.algorithms, pair)
        chosen_pair(scores, a, b)
        compared = compare(scores, a, b, wanted, level=level, **options)
        check = _checked(text, compared[0], margin, higher=scores.higher_is_better)
        if scores.units == "items":
            _refuse_unlike_scales(scores, text, (a, b))
            filled, n = (scores, 0) if check.established else _with_missing(scores, a, b)
            if n:
                with noted():
                    worst = compare(filled, a, b, wanted, level=level, **options)[0]
                if _checked(text, worst, margin, higher=scores.higher_is_better).established:
                    raise ScoreDataError(
                        f"{text!r}: expected scores of all items, found {a} without "
                        f"{counted(n, 'sample')}; it is established if these count as the worst "
                        "score, and not without them: score them, or leave them out of both"
                    )
        checks.append(check)
        notes += compared.warnings
        settings = compared.settings
    settings = made_by(None, **{**settings, "claim": [one.claim for one in checks]})
    return ClaimChecks(tuple(checks), settings, tuple(dict.fromkeys(notes)))


def _refuse_unlike_scales(scores: ScoreTable, claim: str, pair: tuple[str, str]) -> None:
    """Refuse a pair of which one has scores from 0 to 1, and the other far larger ones."""
    rows = scores.rows
    ends = []
    for name in pair:
        own = rows["score"][rows["algorithm"].isin([name]) & ~np.isnan(rows["score"])]
        ends.append((float(own.min()), float(own.max())))
    (low, small), (least, large) = sorted(ends, key=lambda of: of[1])
    if low >= 0.0 and least >= 0.0 and small <= 1.0 and large >= _FAR:
        raise ScoreDataError(
            f"{claim!r}: expected scores on one scale, found "
            + " and ".join(f"{n} from {x:g} to {y:g}" for n, (x, y) in zip(pair, ends, strict=True))
        )


def _with_missing(scores: ScoreTable, a: str, b: str) -> tuple[ScoreTable, int]:
    """Return the scores with the worst one for each sample that `a` lacks; their number.

    These are samples of `a` without a score, and those of `b` on items that `a` does not have.
    """
    rows = scores.select(algorithms=[a, b]).rows
    score, of_a = rows["score"], rows["algorithm"].isin([a])
    higher = scores.higher_is_better
    worst = min(0.0, np.nanmin(score)) if higher else max(1.0, np.nanmax(score))
    empty = of_a & np.isnan(score)
    absent = ~of_a & ~rows["task"].isin({*rows.take(of_a).tolist("task")}) & ~np.isnan(score)
    n = int(empty.sum() + absent.sum())
    added = rows.take(absent).with_columns(
        {"algorithm": Texts.repeated(a, int(absent.sum())), "score": np.full(absent.sum(), worst)}
    )
    filled = rows.with_columns({"score": np.where(empty, worst, score)})
    return replace(scores, rows=Rows.joined([filled, added])), n


def _checked(claim: str, one: Comparison, margin: float, *, higher: bool) -> ClaimCheck:
    """Return whether a comparison establishes that its first algorithm is worse."""
    if math.isnan(one.low) or math.isnan(one.high):
        raise ScoreDataError(
            f"{claim!r}: expected a difference with an interval to decide by; that of {one.metric} "
            "is not estimable from these scores"
        )
    higher = higher or one.metric == IMPROVEMENT
    limit = (0.5 if one.metric == IMPROVEMENT else 0.0) + (-margin if higher else margin)
    detectable = one.detectable
    if detectable is None:
        half = one.high - one.value if higher else one.value - one.low
        power = normal_quantile(2.0 * POWER - 1.0)
        detectable = half * (1.0 + power / normal_quantile(one.level))
    shared = ("a", "b", "metric", "task", "value", "low", "high", "level", "method", "n_items")
    return ClaimCheck(
        claim=claim,
        margin=margin,
        established=one.high < limit if higher else one.low > limit,
        error_rate=round((1.0 - one.level) / 2.0, 12),
        detectable=margin + detectable,
        **{name: getattr(one, name) for name in shared},
    )


def _metric(scores: ScoreTable, metric: str | None) -> str:
    """Return what the claim is about."""
    if scores.units == "items":
        return metric or "mean"
    if metric is None:
        raise ScoreDataError(
            f"a claim is about one metric: expected one of {', '.join(METRICS)}, found none; "
            f"{either('metric', '--metric')} names it"
        )
    if metric not in METRICS:
        raise UnknownNameError("metric of a claim", metric, METRICS)
    return metric


def _read(claim: str, names: Sequence[str], pair: tuple[str, str] | None) -> tuple[str, str, float]:
    """Return the claim: the worse algorithm, the better one, and the margin."""
    two = pair or (names if len(names) == 2 else ())
    known = {**dict(zip("AB", two, strict=False)), **{name: name for name in names}}
    of_names = "|".join(map(re.escape, known))
    found = re.fullmatch(
        f"({of_names}) (worse|better) than ({of_names})({_MARGIN})?", claim.strip()
    )
    if found is not None:
        a, b = known[found[1]], known[found[3]]
        margin = float(found[4].removeprefix(" by ")) if found[4] else 0.0
        return (a, b, margin) if found[2] == "worse" else (b, a, margin)
    others = _CLAIM.fullmatch(claim.strip())
    for name in () if others is None else (others["a"], others["b"].partition(" by ")[0]):
        if name not in known:
            raise UnknownNameError("algorithm", name, names)
    raise ScoreDataError(
        f"{claim!r}: expected a claim such as 'B worse than A' or 'B worse than A by 0.02'"
    )
