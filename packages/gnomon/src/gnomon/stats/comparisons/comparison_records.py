"""Records of comparisons: how much better one algorithm is than another, in a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from gnomon.results import FieldRecord, Results, Row
from gnomon.stats.comparisons.difference import IMPROVEMENT


@dataclass(frozen=True, slots=True)
class Comparison(FieldRecord):
    """How much better (or higher) one algorithm is than another in one metric.

    Parameters
    ----------
    a, b : str
        The algorithms.
    metric : str
        What is compared. The value is that of `a` minus that of `b`, except for
        ``probability_of_improvement``, where it is P(a better than b) and 0.5 means no difference.
    task : str or None
        The task, or None for all together.
    value, low, high : float
        The difference with its interval; NaN where not estimable.
    p_value : float
        Two-sided, that there is no difference.
    p_adjusted : float
        Corrected for the comparisons made together; the results' notes, and ``family`` of their
        settings, say which these are.
    level : float
        Confidence level of the interval.
    method : str
        How interval and p-value were made.
    n_resamples : int
        0 for a closed form.
    mc_error : float
        Monte Carlo error of the worse end.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import compare
    >>> scores = ScoreTable.from_arrays({"a": [[3], [4]], "b": [[1], [2]]})
    >>> (one,) = compare(scores, "a", "b", "mean")
    >>> one.value, one.as_record()["task"]
    (2.0, None)
    """

    a: str
    b: str
    metric: str
    task: str | None
    value: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    level: float
    method: str
    n_resamples: int
    mc_error: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(Results[Comparison]):
    """Comparisons of two algorithms or of all pairs; see :func:`compare`, :func:`compare_all`.

    Examples
    --------
    >>> from gnomon.scores import ScoreTable
    >>> from gnomon.stats import compare
    >>> scores = ScoreTable.from_arrays({"a": [[3], [4]], "b": [[1], [2]]})
    >>> compare(scores, "a", "b", ["mean", "iqm"]).where(metric="iqm").settings["method"]
    'auto'
    """

    columns: ClassVar[tuple[str, ...]] = (
        "a",
        "b",
        "metric",
        "task",
        "value",
        "low",
        "high",
        "p_value",
        "p_adjusted",
    )
    drawn_by = "gnomon.plot.dots:comparison_figure"

    @property
    def title(self) -> str:
        """How to read the values."""
        return "a minus b, or the probability that a is better"

    @property
    def notes(self) -> tuple[str, ...]:
        """What each metric claims, and which p-values were corrected together."""
        family = self.settings.get("family")
        return (*_claims(self), *([f"p_adjusted: {family}."] if family else []))

    def _shown(self, rows: Sequence[Row]) -> Sequence[str]:
        of_tasks = any(row["task"] is not None for row in rows)
        return [name for name in self.columns if of_tasks or name != "task"]


def _claims(found: Sequence[Comparison]) -> list[str]:
    """Say of which question each metric is the answer, as verbs that ask another may disagree."""
    metrics = dict.fromkeys(one.metric for one in found)
    sizes = [metric for metric in metrics if metric != IMPROVEMENT]
    claims = []
    if sizes:
        claims.append(
            f"{', '.join(sizes)}: by how much a is better, in units of the score; a few tasks may "
            "decide it."
        )
    if IMPROVEMENT in metrics:
        claims.append(
            f"{IMPROVEMENT}: how often a run of a beats one of b on the same task; by how much "
            "does not count."
        )
    if len({(one.a, one.b) for one in found}) > 1:
        claims.append(
            "gnomon rank counts wins against everybody and may separate other pairs: gnomon audit "
            "names them."
        )
    return claims
