"""The gate: whether a new version may replace a base, by claims about their difference.

Every claim has a one-sided test, and Holm's correction controls the error over all claims and
groups of one call. Items and runs that crashed are never left out unless the caller asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gnomon.errors import (
    ScoreDataError,
    UnknownNameError,
    check_level,
    check_type,
    counted,
    either,
    joined,
    listed,
    note,
    option,
)
from gnomon.printing import percent
from gnomon.results import FieldRecord, Results, made_by, noted, recorded
from gnomon.scores.reading import Scores
from gnomon.scores.table import ScoreTable, clusters_of_items
from gnomon.scores.versions import BASE, NEW, PAIR, Missing, put_together, version_of, within_unit
from gnomon.stats.comparison import FOR_PAIRS, Comparison, compare
from gnomon.stats.difference import IMPROVEMENT
from gnomon.stats.distributions import normal_quantile
from gnomon.stats.item_results import POWER
from gnomon.stats.items import ItemDifferences, Items, item_metrics
from gnomon.stats.metrics import metric_named
from gnomon.stats.rank_tests import holm
from gnomon.stats.strata import Strata

#: Names of the claims, each with what holds and what does not.
NON_INFERIOR, REGRESSION, SUPERIOR = "non-inferior", "regression", "superior"
#: Halvings of the range of log10 of a p-value, from -12 to 0, of a two-sided p-value.
N_HALVINGS = 24


@dataclass(frozen=True)
class GateClaim(FieldRecord):
    """One claim about one group of tasks or items, decided.

    Parameters
    ----------
    claim : str
        ``non-inferior MARGIN``, ``regression`` or ``superior``.
    group : str or None
        The group of tasks or items; None for all.
    holds : bool
        Whether the claim passes.
    value, low, high : float
        NEW minus BASE (or the probability that NEW is better) with its interval at the level of the
        call, not corrected; NaN where not estimable.
    p_value : float
        One-sided, with Holm's correction over all claims and groups: of a loss smaller than the
        margin, of a loss (``regression``), or of a gain.
    n_missing : int
        Tasks or items of BASE that have no score in NEW, or fewer than planned.
    detectable : float
        Smallest effect (smallest margin) that is detected with a power of 0.8 at the level of
        Bonferroni's correction; NaN where the scale allows no effect of that size, or where
        differences do not vary.
    percent : float
        The difference in per cent of the value of BASE; NaN where that is not above 0.
    """

    claim: str
    group: str | None
    holds: bool
    value: float
    low: float
    high: float
    p_value: float
    n_missing: int
    detectable: float
    percent: float

    def __str__(self) -> str:
        kind, _, margin = self.claim.partition(" ")
        no = "not " if self.holds == (kind == REGRESSION) else ""
        found = {
            NON_INFERIOR: f"a loss of more than {margin} is {no}ruled out",
            REGRESSION: f"NEW is {no}significantly worse",
            SUPERIOR: f"NEW is {no}significantly better",
        }[kind]
        return f"{'Pass' if self.holds else 'Fail'}: {self.group or 'all'}: {found}."


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Results[GateClaim]):
    """The claims of a gate; see :func:`gate`."""

    columns = (
        *("claim", "group", "holds", "value", "low", "high", "percent", "p_value", "n_missing"),
        "detectable",
    )

    @property
    def passed(self) -> bool:
        """Whether every claim holds."""
        return all(one.holds for one in self)

    @property
    def title(self) -> str:
        """How to read the values."""
        if self.settings["metric"] == IMPROVEMENT:
            return "probability that NEW is better than BASE"
        return f"NEW minus BASE, {self.settings['metric']}; percent: of BASE"

    @property
    def notes(self) -> tuple[str, ...]:
        """Every decision in words, the error, and the answer."""
        n, failed = len(self), sum(not one.holds for one in self)
        answer = "Gate passed" if self.passed else f"Gate failed: {failed} of {counted(n, 'claim')}"
        return (
            *map(str, self),
            f"Probability of any wrong decision: {percent(self.settings['error'])} at most (Holm's "
            f"correction over {counted(n, 'claim')}).",
            f"detectable: the smallest effect that is detected with power {POWER:g}; empty where "
            "the scale allows none or the differences do not vary.",
            f"{answer}.",
        )


def gate(
    new: Scores,
    base: Scores,
    metric: str | None = None,
    *,
    non_inferior: float | str | None = None,
    regression: bool = False,
    superior: bool = False,
    by: str | None = None,
    missing: Missing = "refuse",
    worst: float | None = None,
    require: float | None = None,
    paired: bool = False,
    level: float = 0.95,
) -> Gate:
    """Decide whether a new version passes: claims about its difference from a base.

    Items are compared one by one: by Tango's score if right or wrong, else by Student's t, in
    clusters by both with cluster-robust errors. Tables of tasks and runs are compared as
    :func:`compare` does. Where the differences do not vary, exact bounds of items and permutations
    of runs decide. The one-sided error over all claims and groups of a call is at most
    (1 - `level`) / 2, by Holm's correction.

    Parameters
    ----------
    new, base : ScoreTable, path, data frame, mapping or list of records
        Scores of one algorithm (or model) each, on the same tasks (or items), by the same scorer.
        Unlike :func:`compare`, which takes two names, since a new version usually has a file of
        its own, in which it has the same name as the base. ``select(algorithms=[...])`` selects one
        algorithm of a table.
    metric : str, optional
        The metric of all claims. For items the mean (the default), ``pass@K`` or
        ``pass^K``; for tasks mean, median, iqm or probability_of_improvement, which has to be
        named.
    non_inferior : float or str, optional
        Passes only if a larger loss is ruled out: in points of the score (0.02), or in per cent of
        the observed value of `base` (``"2%"``); for a probability of improvement, below 0.5.
    regression : bool
        Fails only if `new` is significantly worse.
    superior : bool
        Passes only if `new` is significantly better.
    by : str, optional
        A column of `base`, or ``task``: the claims must hold in each of its groups too.
    missing : {"refuse", "wrong", "drop"}
        How to treat scores of `base` that are missing, errored, empty or NaN in `new`: raise an
        error, count them as the worst score, or leave them out.
    worst : float, optional
        The worst score, for ``missing="wrong"``; scores between 0 and 1 need none.
    require : float, optional
        Share of the tasks or items of `base` that `new` must have; the others are left out, unless
        `missing` is ``"wrong"``.
    paired : bool
        Whether runs with the same label are pairs (the same seed). Items are pairs always.
    level : float
        Confidence level.

    Returns
    -------
    Gate
        A record for each claim and group, and ``passed``.

    Raises
    ------
    ScoreDataError
        No claim is made; scores are missing; tasks, scorers, directions or scales differ; or there
        is too little to decide by.
    UnknownNameError
        There is no such column, metric or word.

    Warns
    -----
    DegenerateScoresWarning
        Scores were left out or counted as the worst, or a group is too small to show an effect.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6:65. Tango (1998), Statistics in Medicine
    17:891. Bell and McCaffrey (2002), Survey Methodology 28:169.

    Examples
    --------
    >>> old = [{"model": "old", "item": i, "score": i % 5 > 0} for i in range(200)]
    >>> new = [{"model": "new", "item": i, "score": i % 5 > 0 and i > 9} for i in range(200)]
    >>> found = gate(new, old, non_inferior=0.02, regression=True)
    >>> found.passed, [(one.claim, one.holds) for one in found]
    (False, [('non-inferior 0.02', False), ('regression', False)])
    """
    if metric is not None:
        check_type("metric", metric, str, "the name of one metric")
    check_level(level)
    claims, margin = _claims(non_inferior, regression, superior), _margin(non_inferior)
    error = (1.0 - level) / 2.0
    with recorded() as notes:
        ours, theirs = version_of(new, NEW), version_of(base, BASE)
        if "opponent" in theirs.rows:
            raise ScoreDataError(
                "gate applies to tasks and items, not to votes; compare rates models by all votes"
            )
        table, lacking = put_together(ours, theirs, missing, worst, require)
        metric = _known_metric(table, metric, non_inferior)
        groups = _groups(theirs, by, table.tasks)
        levels = level, 1.0 - 2.0 * error / (len(claims) * len(groups))
        parts = _compared(table, groups, by, metric, levels, paired)
        made = [(claim, part) for part in parts for claim in claims]
        p_values = holm([part.p_value(claim, *margin) for claim, part in made]).tolist()
        found = tuple(
            part.decided(claim, p_value, error, len(lacking & groups[part.name]))
            for (claim, part), p_value in zip(made, p_values, strict=True)
        )
    settings = made_by(
        None, claims=claims, metric=metric, level=level, error=round(error, 12), correction="holm",
        by=by, missing=missing, worst=worst, require=require, paired=paired, units=table.units,
        cluster=table.cluster, higher_is_better=table.higher_is_better,
    )  # fmt: skip
    return Gate(found, settings, tuple(notes))


def _claims(non_inferior: float | str | None, regression: bool, superior: bool) -> list[str]:
    """Return the claims to decide, by name."""
    named = {
        f"{NON_INFERIOR} {non_inferior}": non_inferior is not None,
        REGRESSION: regression,
        SUPERIOR: superior,
    }
    if not any(named.values()):
        known = option(non_inferior=0.02), option(regression=True), option(superior=True)
        raise ScoreDataError(
            f"expected a claim to decide, such as {joined(known, 'or')}; found none"
        )
    return [name for name, is_made in named.items() if is_made]


def _margin(given: float | str | None) -> tuple[float, bool]:
    """Return a margin, and whether it is a share of the value of BASE."""
    text = str(0.0 if given is None else given).strip()
    relative = text.endswith("%")
    try:
        found = float(text.removesuffix("%")) / (100.0 if relative else 1.0)
    except ValueError:
        found = math.nan
    if not 0.0 <= found < math.inf or (relative and found >= 1.0):
        raise ScoreDataError(
            f"non-inferior: expected a margin such as 0.02 or 2%, not below 0, found {text!r}"
        )
    return found, relative


def _known_metric(table: ScoreTable, metric: str | None, margin: float | str | None) -> str:
    """Return what the claims are about, once it is checked."""
    if table.units == "items":
        return item_metrics(metric)[0]
    if metric is None:
        raise ScoreDataError(
            f"claims are about one metric: expected one of {', '.join(FOR_PAIRS)}, found none; "
            f"name it by {either('metric', '--metric')}"
        )
    if metric not in FOR_PAIRS:
        raise UnknownNameError("metric of a gate", metric, FOR_PAIRS)
    if metric == IMPROVEMENT and "%" in str(margin):
        raise ScoreDataError(f"{IMPROVEMENT}: expected a margin such as 0.05, found {margin!r}")
    return metric


def _groups(base: ScoreTable, by: str | None, shared: Sequence[str]) -> dict[str | None, set[str]]:
    """Return the tasks of BASE, all of them and those of each group."""
    found: dict[str | None, set[str]] = {None: {*base.tasks}}
    if by == "task":
        return found | {task: {task} for task in shared}
    if by is not None:
        if by not in base.attributes:
            raise UnknownNameError("column", by, base.attributes)
        names, code = clusters_of_items(base.rows, by)
        tasks = np.array(base.tasks, dtype=object)
        found |= {name: {*tasks[code == i]} for i, name in enumerate(names)}
    if empty := [str(name) for name, own in found.items() if own.isdisjoint(shared)]:
        raise ScoreDataError(f"by {by}: expected shared {base.units}, none in {listed(empty)}")
    return found


def _compared(
    table: ScoreTable,
    groups: Mapping[str | None, set[str]],
    by: str | None,
    metric: str,
    levels: tuple[float, float],
    paired: bool,
) -> list[_Group]:
    """Return the comparison on all tasks or items, and on those of each group.

    With fewer items than `least`, not even a loss of all of them is significant by the sign test.
    """
    least = 1 + math.floor(1.0 - math.log2(1.0 - levels[0])) if table.units == "items" else 0
    if len(table.tasks) < least:
        raise ScoreDataError(
            f"expected {least} shared items or more, found {len(table.tasks)}: with fewer no "
            f"result is significant at a level of {percent(levels[0])}"
        )
    parts = [_Group.of(None, table, metric, levels, paired)]
    # Within one cluster, items are the sample.
    cluster = None if by == table.cluster else table.cluster
    for name in [*groups][1:]:
        own = table.select(tasks=[task for task in table.tasks if task in groups[name]])
        with noted():
            part = replace(own, cluster=cluster)
            parts.append(_Group.of(name, part, metric, levels, paired))
    small = [str(part.name) for part in parts if len(part.table.tasks) < least]
    if small:
        note(f"too few items to show an effect in {listed(small)}")
    return parts


@dataclass(frozen=True, eq=False)
class _Group:
    """The comparison of NEW and BASE on a group of tasks or items.

    `items` is the difference of items, `base` the value of BASE, `effect` the smallest one that is
    detected at the corrected level.
    """

    name: str | None
    table: ScoreTable
    metric: str
    paired: bool
    compared: Comparison
    items: ItemDifferences | None
    base: float
    effect: float

    @classmethod
    def of(
        cls,
        name: str | None,
        table: ScoreTable,
        metric: str,
        levels: tuple[float, float],
        paired: bool,
    ) -> _Group:
        """Return the comparison at the level of intervals, and the effect at the corrected one."""
        (compared,) = compare(table, *PAIR, metric, paired=paired, level=levels[0])
        if table.units == "items":
            items = Items(table, metric)
            of, base = items.differences([PAIR]), items.mean(BASE).value
            effect = float(of.detectable(levels[1], POWER)[0])
            return cls(name, table, metric, paired, compared, of, base, effect)
        with noted():
            (at_other,) = compare(table, *PAIR, metric, paired=paired, level=levels[1])
        steps = 1.0 + normal_quantile(2.0 * POWER - 1.0) / normal_quantile(levels[1])
        base, effect = 0.5, (at_other.high - at_other.low) / 2.0 * steps
        if metric != IMPROVEMENT:
            base = float(metric_named(metric).value(Strata.from_table(table, BASE)))
        return cls(name, table, metric, paired, compared, None, base, effect)

    @property
    def percent(self) -> float:
        """The difference in per cent of the value of BASE; NaN of a probability."""
        known = self.base > 0.0 and self.metric != IMPROVEMENT
        return 100.0 * self.compared.value / self.base if known else math.nan

    def decided(self, claim: str, p_value: float, error: float, n_missing: int) -> GateClaim:
        """Return a claim with its corrected p-value and its decision at a one-sided error."""
        return GateClaim(
            claim=claim,
            group=self.name,
            holds=(p_value <= error) != (claim == REGRESSION),
            value=self.compared.value,
            low=self.compared.low,
            high=self.compared.high,
            p_value=p_value,
            n_missing=n_missing,
            detectable=self.detectable(claim),
            percent=self.percent,
        )

    @property
    def _side(self) -> float:
        """1 if more is better, -1 if less is."""
        return 1.0 if self.table.higher_is_better or self.metric == IMPROVEMENT else -1.0

    def detectable(self, claim: str) -> float:
        """Return the smallest effect that is detected; NaN if the scale does not allow it."""
        room = math.inf
        if self.metric == IMPROVEMENT or within_unit(self.table):
            room = self.base if (claim == SUPERIOR) != (self._side > 0.0) else 1.0 - self.base
        return self.effect if self.effect <= room else math.nan

    def p_value(self, claim: str, margin: float, relative: bool) -> float:
        """Return the one-sided p-value of a claim, not corrected."""
        if not claim.startswith(NON_INFERIOR):
            margin = 0.0
        elif relative:
            if not self.base > 0.0:
                raise ScoreDataError(
                    f"a margin in per cent needs a value of BASE above 0, found {self.base:g}"
                )
            margin *= self.base
        side = -self._side if claim == REGRESSION else self._side
        if self.items is not None:
            found = float(self.items.tail(-side * margin, side)[0])
        elif self.metric == IMPROVEMENT and margin:
            found = self._p_beyond(0.5 - margin)
        else:
            found = self._p_of_tasks(side * margin, side)
        if math.isnan(found):
            raise ScoreDataError(
                f"{self.name or 'all'}: expected a difference with a test to decide by; that of "
                f"{self.metric} is not estimable from these scores"
            )
        return found

    def _p_of_tasks(self, shift: float, side: float) -> float:
        """Return the p-value of a gain over a BASE whose scores are lower by a shift."""
        one, rows = self.compared, self.table.rows
        if shift != 0.0:
            score = rows["score"] - np.where(rows["algorithm"].isin([BASE]), shift, 0.0)
            table = replace(self.table, rows=rows.with_columns({"score": score}))
            one = self._again(table, one.level)
        lead = side * (one.value - (0.5 if self.metric == IMPROVEMENT else 0.0))
        return one.p_value / 2.0 if lead > 0.0 else 1.0 - one.p_value / 2.0

    def _p_beyond(self, limit: float) -> float:
        """Return the smallest one-sided level at which the interval lies above a limit."""
        low, high = -12.0, 0.0
        for _ in range(N_HALVINGS):
            middle = (low + high) / 2.0
            holds = self._again(self.table, 1.0 - 10.0**middle).low > limit
            low, high = (low, middle) if holds else (middle, high)
        return 10.0**high / 2.0 if self.compared.value > limit else 1.0

    def _again(self, table: ScoreTable, level: float) -> Comparison:
        with noted():
            return compare(table, *PAIR, self.metric, paired=self.paired, level=level)[0]
