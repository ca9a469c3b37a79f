"""Planning of runs: how many are needed, what fewer would have said, and when to stop early."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import Results, generator, made_by, recorded
from gnomon.scores.table import ScoreTable, Units
from gnomon.stats.cautions import warn
from gnomon.stats.comparison import chosen_pair
from gnomon.stats.item_plans import ItemPlan, item_plan_notes, plan_items
from gnomon.stats.items import counted_as, expect_items, refuse_unlike
from gnomon.stats.metrics import Metric, Metrics, metric_list
from gnomon.stats.planning.power import (
    ASSURANCE,
    IntervalWidth,
    PowerPoint,
    interval_widths,
    power_curve,
    runs_needed,
)
from gnomon.stats.samples import Strata
from gnomon.stats.sequential import SequentialResult, sequential_compare

#: Runs to try for power.
DEFAULT_RUNS = (3, 5, 10, 20, 40)


Way = Literal["power", "widths", "sequential"]


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Results[PowerPoint | IntervalWidth | SequentialResult | ItemPlan]):
    """What is known of numbers of runs; see :func:`plan`.

    Examples
    --------
    >>> points = (PowerPoint("a", "b", "iqm", 5, 0.6), PowerPoint("a", "b", "iqm", 10, 0.9))
    >>> print(Plan(points, {"power": 0.8}).notes[0])
    a, b (iqm): power 0.8 takes 10 runs
    """

    drawn_by = "gnomon.plot.lines:plan_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many runs each pair needs, how sure that is, and the conservative choice."""
        curves: dict[tuple[str, str, str], list[PowerPoint]] = {}
        for point in self:
            if isinstance(point, PowerPoint):
                curves.setdefault((point.a, point.b, point.metric), []).append(point)
        power, level = self.settings.get("power", 0.8), self.settings.get("level", 0.95)
        found = []
        for (a, b, metric), points in curves.items():
            most = points[-1].runs
            needed, least, last, assured = (
                f"{runs}" if runs else f"more than {most}"
                for runs in (
                    runs_needed(points, power, by=by) for by in ("power", "high", "low", "assured")
                )
            )
            text = f"{a}, {b} ({metric}): power {power:g} takes {needed} runs"
            if math.isfinite(points[-1].assured):
                text += (
                    f" ({level:.0%}: {least} to {last}); "
                    f"with {assured} runs {ASSURANCE:.0%} of pilots reach it"
                )
            found.append(text)
        found += item_plan_notes([one for one in self if isinstance(one, ItemPlan)], power)
        if self.settings.get("way") == "sequential":
            found.append(
                "p_value: of the look, whose level is its share of the error of all looks; not "
                "corrected over metrics"
            )
        return tuple(found)


def plan(
    scores: ScoreTable,
    a: str | None = None,
    b: str | None = None,
    metrics: Metrics | None = None,
    *,
    way: Way = "power",
    units: Units | None = None,
    cluster: str | None = None,
    runs: Sequence[int] | None = None,
    items: Sequence[int] | None = None,
    power: float = 0.8,
    n_simulations: int = 400,
    level: float = 0.95,
    gamma: float | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Plan:
    """Estimate how many runs are needed to separate algorithms.

    Parameters
    ----------
    scores : ScoreTable
        Runs at hand, at least two per task.
    a, b : str, optional
        Two algorithms; all of them if not given.
    metrics : str, Metric or sequence of them, optional
        ``iqm`` if not given, of items ``mean``.
    way : str
        ``power``: how often studies of each size separate a pair
        (:func:`~gnomon.stats.planning.power.power_curve`); ``widths``: how wide intervals would be
        (:func:`~gnomon.stats.planning.power.interval_widths`);
        ``sequential``: a comparison look by look (:func:`sequential_compare`). Of items ``power``
        alone, from formulas: more items or more epochs
        (:func:`~gnomon.stats.item_plans.plan_items`).
    units, cluster : str, optional
        As in :func:`~gnomon.stats.comparison.compare`.
    runs : sequence of int, optional
        Runs per task to try, or to look after; if not given 3, 5, 10, 20, 40 for power, and up to
        six times the pilot's for widths. Of items, epochs: 1, 2, 4,
        8 and those there are.
    items : sequence of int, optional
        Of items, how many to try; half of those there are to eight times as many, if not given.
    power : float
        The power to reach.
    n_simulations : int
        Simulated studies.
    level : float
        Confidence level.
    gamma : float, optional
        Target of the optimality gap.
    rng : numpy.random.Generator or int, optional
        Source of all draws, or their seed; seed 0 if not given.
    progress : callable, optional
        Told how many records of all are there, for powers and widths.

    Returns
    -------
    Plan
        Records of :class:`~gnomon.stats.planning.power.PowerPoint`,
        :class:`~gnomon.stats.planning.power.IntervalWidth`, :class:`SequentialResult` or, of
        items, :class:`~gnomon.stats.item_plans.ItemPlan`, metric by metric.

    Raises
    ------
    ScoreDataError
        There are too few algorithms, runs or looks for that way, or runs do not vary; items are
        given of a table of tasks, or of items a way that they have not.

    Warns
    -----
    DegenerateScoresWarning
        An interval has no width.

    Examples
    --------
    >>> from gnomon.stats import plan
    >>> scores = ScoreTable.from_arrays({"a": [[0.0], [1.0], [2.0]], "b": [[2.0], [3.0], [4.0]]})
    >>> (note,) = plan(scores, "a", "b", "mean", runs=[3, 8, 30]).notes
    >>> for part in note.split("; "):
    ...     print(part)
    a, b (mean): power 0.8 takes 8 runs (95%: 3 to more than 30)
    with 30 runs 80% of pilots reach it
    """
    scores = counted_as(scores, units, cluster)
    pair = chosen_pair(scores, a, b)
    if pair is not None and way != "sequential":
        scores = scores.select(algorithms=pair)
    of_items = scores.units == "items"
    if of_items:
        refuse_unlike(**{f"way={way}": way != "power", "gamma": gamma is not None})
    elif items:
        expect_items(items=f"{items}")
    default = "mean" if of_items else "iqm"
    wanted = metric_list(metrics or default)
    counts = sorted(set(runs or ()))
    how = _Settings(counts, n_simulations, level, gamma, generator(rng))
    with recorded() as notes:
        if of_items:
            found: Iterable[Any] = plan_items(
                scores, pair, wanted, items=items, epochs=counts, power=power, level=level
            )
        elif way == "power":
            found = _powers(scores, wanted, how)
        elif way == "widths":
            found = _widths(scores, wanted, how)
        else:
            found = _looks(scores, pair, wanted, how)
        total = 0 if of_items else len(wanted) * _n_records(scores, way, counts)
        records = tuple(_watched(found, total, progress))
    settings = made_by(
        rng,
        way=way,
        scale=scores.scale,
        higher_is_better=scores.higher_is_better,
        power=power,
        n_simulations=n_simulations,
        level=level,
        gamma=gamma,
    )
    return Plan(records, settings, tuple(notes))


@dataclass(frozen=True)
class _Settings:
    """What all metrics and algorithms of one call share."""

    runs: Sequence[int]
    n_simulations: int
    level: float
    gamma: float | None
    rng: np.random.Generator


def _n_records(scores: ScoreTable, way: Way, counts: Sequence[int]) -> int:
    """Return how many records of a metric there will be, 0 if that is not known."""
    n = len(scores.algorithms)
    if way == "power":
        return n * (n - 1) // 2 * len(counts or DEFAULT_RUNS)
    return n * len({0, *(counts or range(1, 5))}) if way == "widths" else 0


def _watched(
    found: Iterable[Any], total: int, progress: Callable[[int, int], object] | None
) -> Iterator[Any]:
    """Yield records, and tell how many there are, from none on."""
    if progress is not None and total:
        progress(0, total)
    for done, record in enumerate(found, start=1):
        if progress is not None and total:
            progress(min(done, total), total)
        yield record


def _powers(
    scores: ScoreTable, metrics: Sequence[str | Metric], how: _Settings
) -> Iterator[PowerPoint]:
    if len(scores.algorithms) < 2:
        raise ScoreDataError(f"expected two algorithms or more, found {scores.algorithms[0]} alone")
    for metric in metrics:
        for a, b in combinations(scores.algorithms, 2):
            yield from power_curve(
                scores,
                a,
                b,
                metric,
                runs=how.runs or DEFAULT_RUNS,
                level=how.level,
                n_simulations=how.n_simulations,
                gamma=how.gamma,
                rng=how.rng,
            )


def _widths(
    scores: ScoreTable, metrics: Sequence[str | Metric], how: _Settings
) -> Iterator[IntervalWidth]:
    for algorithm in scores.algorithms:
        pilot = Strata.from_table(scores, algorithm)
        now = int(pilot.counts.min())
        runs = sorted({now, *(how.runs or (2 * now, 3 * now, 4 * now, 6 * now))})
        for metric in metrics:
            name = metric if isinstance(metric, str) else metric.name
            try:
                found = interval_widths(
                    pilot,
                    metric,
                    runs=runs,
                    level=how.level,
                    gamma=how.gamma,
                    higher_is_better=scores.higher_is_better,
                    n_simulations=how.n_simulations,
                    rng=how.rng,
                )
            except ScoreDataError as error:
                raise ScoreDataError(f"{algorithm}: {error}") from None
            if found[now] == 0.0:
                warn(f"{name} of {algorithm}: the pilot's interval has no width to halve")
            for n, width in found.items():
                relative = width / found[now] if found[now] else math.nan
                yield IntervalWidth(algorithm, name, n, width, relative)


def _looks(
    scores: ScoreTable,
    pair: tuple[str, str] | None,
    metrics: Sequence[str | Metric],
    how: _Settings,
) -> Iterator[SequentialResult]:
    if pair is None or len(how.runs) < 2:
        raise ScoreDataError(
            "sequential: expected two algorithms and two numbers of runs to look after, or more"
        )
    for metric in metrics:
        yield sequential_compare(
            scores, *pair, metric, looks=how.runs, level=how.level, gamma=how.gamma, rng=how.rng
        )
