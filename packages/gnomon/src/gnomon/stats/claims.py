"""Claims that one algorithm is worse than another, checked: a regression gate with its error rate.

A claim is established if the whole confidence interval of the difference lies beyond its margin.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from gnomon.errors import ScoreDataError, UnknownNameError, either
from gnomon.results import FieldRecord, Results, made_by
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.comparison import Comparison, chosen_pair, compare
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.items import counted_as
from gnomon.stats.proportions import normal_quantile

#: What a claim about tasks may be about; of items: the mean, pass@K, pass^K.
METRICS = ("mean", "median", "iqm", IMPROVEMENT)
POWER = 0.8
_CLAIM = re.compile(r"(?P<a>.+) (worse|better) than (?P<b>.+)")
_MARGIN = re.compile(r" by (\d*\.?\d+(?:[eE]-?\d+)?)")


@dataclass(frozen=True)
class ClaimCheck(FieldRecord):
    """Whether a claim is established: that one algorithm is worse than another.

    Parameters
    ----------
    claim : str
        In the words in which it was made.
    a, b : str
        The algorithm that is claimed to be worse, and the other one.
    metric : str
    task : None
        All tasks, or items, together.
    value, low, high : float
        The difference `a` minus `b` with its interval, or the probability that `a` is better.
    margin : float
        The claimed difference: `a` is worse by more than this.
    established : bool
        Whether the whole interval lies beyond the margin.
    level : float
        Confidence level of the interval.
    error_rate : float
        How often at most a claim that is not true is established.
    detectable : float
        How much worse `a` must be for the claim to be established with a power of 0.8.
    method : str
        How the interval is made.
    n_items : int or None
        Items that both have.

    Examples
    --------
    >>> found = ClaimCheck("b worse than a", "b", "a", "mean", None, -0.2, -0.3, -0.1, 0.0, True,
    ...                    0.95, 0.025, 0.15, "tango", 90)
    >>> found.as_record()["established"]
    True
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
    """The checks of claims; see :func:`check_claim`.

    Examples
    --------
    >>> scores = {"old": [[1, 1, 0, 1] * 8], "new": [[1, 0, 0, 1] * 8]}
    >>> table = ScoreTable.from_arrays(scores, units="items")
    >>> check_claim(table, "new worse than old").established
    True
    """

    columns = ("a", "b", "metric", "value", "low", "high", "margin", "established", "detectable")

    @property
    def established(self) -> bool:
        """Whether every claim is established."""
        return all(one.established for one in self)

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b, or the probability that a is better: is a worse by more than the margin?"

    @property
    def notes(self) -> tuple[str, ...]:
        """The answer, and how often it is wrong."""
        return tuple(text for one in self for text in _notes(one))


def _notes(one: ClaimCheck) -> tuple[str, str]:
    by = f" by more than {one.margin:g}" if one.margin else ""
    said = "established" if one.established else "not established"
    return (
        f"{said}: {one.a} is worse than {one.b}{by}.",
        f"If {one.a} is not worse{by}, this is established in about "
        f"{100.0 * one.error_rate:.3g} % of comparisons at most; if it is worse by "
        f"{one.detectable:.3g}, with power {POWER:g}.",
    )


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
    that is not established is not refuted; whether two are equal enough tells
    :func:`~gnomon.stats.equivalence`.

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
        Whom ``A`` and ``B`` stand for.
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
        The claim cannot be read, no metric is named, or there is no interval to decide by.
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
    wanted = _metric(scores, metric)
    checks: list[ClaimCheck] = []
    notes: list[str] = []
    settings: Mapping[str, Any] = {}
    for text in [claim] if isinstance(claim, str) else claim:
        a, b, margin = _read(text, scores.algorithms, pair)
        chosen_pair(scores, a, b)
        compared = compare(scores, a, b, wanted, level=level, **options)
        checks.append(_checked(text, compared[0], margin, higher=scores.higher_is_better))
        notes += compared.warnings
        settings = compared.settings
    settings = made_by(None, **{**settings, "claim": [one.claim for one in checks]})
    return ClaimChecks(tuple(checks), settings, tuple(dict.fromkeys(notes)))


def _checked(claim: str, one: Comparison, margin: float, *, higher: bool) -> ClaimCheck:
    """Return whether a comparison establishes that its first algorithm is worse."""
    if math.isnan(one.low) or math.isnan(one.high):
        raise ScoreDataError(
            f"{claim!r}: expected a difference with an interval to decide by; that of {one.metric} "
            "is not estimable from these scores"
        )
    higher = higher or one.metric == IMPROVEMENT
    limit = (0.5 if one.metric == IMPROVEMENT else 0.0) + (-margin if higher else margin)
    return ClaimCheck(
        claim=claim,
        a=one.a,
        b=one.b,
        metric=one.metric,
        task=None,
        value=one.value,
        low=one.low,
        high=one.high,
        margin=margin,
        established=one.high < limit if higher else one.low > limit,
        level=one.level,
        error_rate=round((1.0 - one.level) / 2.0, 12),
        detectable=margin + _detectable(one, higher),
        method=one.method,
        n_items=one.n_items,
    )


def _detectable(one: Comparison, higher: bool) -> float:
    """Return how far beyond the margin a difference must be to be found with the power."""
    if one.detectable is not None:
        return one.detectable
    half = one.high - one.value if higher else one.value - one.low
    return half * (1.0 + normal_quantile(2.0 * POWER - 1.0) / normal_quantile(one.level))


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
    text = claim.strip()
    for a, word, b in product(known, ("worse", "better"), known):
        head = f"{a} {word} than {b}"
        by = _MARGIN.fullmatch(text.removeprefix(head)) if text.startswith(head) else None
        if text == head or by is not None:
            margin = float(by[1]) if by is not None else 0.0
            return (known[a], known[b], margin) if word == "worse" else (known[b], known[a], margin)
    found = _CLAIM.fullmatch(text)
    for name in () if found is None else (found["a"], found["b"].partition(" by ")[0]):
        if name not in known:
            raise UnknownNameError("algorithm", name, names)
    raise ScoreDataError(
        f"{claim!r}: expected a claim such as 'B worse than A' or 'B worse than A by 0.02'"
    )
