"""Tolerance intervals: between which scores a given share of single runs lies.

A confidence interval says where the mean of all runs is, and shrinks with more runs. Who trains an
agent once gets one run, and asks where that will be: in a tolerance interval, which holds a share
of all runs with a given confidence, however many runs it is made of (Patterson, Neumann, White and
White 2024, *Empirical design in reinforcement learning*, on reporting performance variation).

Without any assumption the ends are order statistics (Wilks 1941): of n independent runs the share
of all runs between the r-th and the s-th smallest is at least Beta(s - r, n - s + r + 1)
distributed, exactly so where scores do not tie. If runs are normal, the ends are k standard
deviations from the mean: for one end k is a quantile of the noncentral t distribution, for two it
solves an integral (Wald and Wolfowitz 1946; Odeh 1978).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from gnomon.errors import ScoreDataError, listed
from gnomon.results import FieldRecord, Results, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.cautions import warn

Side = Literal["two-sided", "lower", "upper"]
ToleranceMethod = Literal["order", "normal"]

#: Beyond so many runs nobody trains, and the search for how many are needed ends.
MOST_RUNS = 1_000_000


@dataclass(frozen=True, slots=True)
class Tolerance(FieldRecord):
    """Between which scores a share of an algorithm's runs on a task lies.

    A number that does not exist is NaN here and None in :meth:`as_record`.

    Parameters
    ----------
    algorithm, task : str
        Whose runs, and on what.
    share : float
        Share of all runs that the interval holds.
    low, high : float
        Its ends; infinite on the side that is left open.
    level : float
        Confidence that it holds so many.
    method : str
        ``order``: order statistics; ``normal``: for runs that are normally distributed.
    n_runs : int
        Number of runs.
    runs_needed : int
        The least number of runs from which such an interval can be made.
    range_share : float
        Share of all runs that the interval from the worst to the best run holds, with the same
        confidence and without any assumption; 0 from a single run.

    Examples
    --------
    >>> one = Tolerance("dqn", "pong", 0.9, math.nan, math.nan, 0.95, "order", 5, 46, 0.34)
    >>> one.as_record()["low"] is None
    True
    """

    algorithm: str
    task: str
    share: float
    low: float
    high: float
    level: float
    method: str
    n_runs: int
    runs_needed: int
    range_share: float


@dataclass(frozen=True, eq=False, repr=False)
class Tolerances(Results[Tolerance]):
    """Tolerance intervals of every algorithm on every task; see :func:`tolerance`.

    Examples
    --------
    >>> from gnomon.stats import tolerance
    >>> scores = ScoreTable.from_arrays({"dqn": np.arange(50.0)[:, None]})
    >>> print(tolerance(scores))
    score: 90 % of runs lie between, with confidence 95 %
    <BLANKLINE>
     algorithm   task     low   high   n_runs   runs_needed   range_share
     ────────────────────────────────────────────────────────────────────
     dqn         task_0     0     49       50            46        0.9086
    """

    columns = ("algorithm", "task", "low", "high", "n_runs", "runs_needed", "range_share")
    drawn_by = "gnomon.plot.statistics:draw_tolerances"

    @property
    def title(self) -> str:
        """Which share of what, and how surely."""
        share, level = self.settings["share"], self.settings["level"]
        return (
            f"{self.settings['scale']}: {100 * share:g} % of runs lie between, with confidence "
            f"{100 * level:g} %"
        )


def tolerance(
    scores: ScoreTable,
    *,
    share: float = 0.9,
    level: float = 0.95,
    side: Side = "two-sided",
    method: ToleranceMethod = "order",
) -> Tolerances:
    """Say between which scores a share of single runs lies, for each algorithm and task.

    Parameters
    ----------
    scores : ScoreTable
        One score for each run.
    share : float
        Share of all runs that an interval is to hold, between 0 and 1.
    level : float
        Confidence that it does, between 0 and 1.
    side : str
        ``two-sided``; ``lower``: the share of runs lies above `low`; ``upper``: below `high`.
    method : str
        ``order``: order statistics, which hold for any distribution; ``normal``: mean and standard
        deviation, which hold for normal scores only, and then from two runs on.

    Returns
    -------
    Tolerances
        By task and algorithm, in the table's order.

    Raises
    ------
    ScoreDataError
        Share or level is not between 0 and 1.

    Warns
    -----
    DegenerateScoresWarning
        There are too few runs, or for ``normal`` some are infinite (censored) or none differ: the
        interval is NaN. The text says how many runs are needed.

    Examples
    --------
    >>> from gnomon.stats import tolerance
    >>> scores = ScoreTable.from_arrays({"dqn": np.arange(60.0)[:, None]})
    >>> (one,) = tolerance(scores, side="lower")
    >>> one.low, one.high, one.runs_needed
    (1.0, inf, 29)
    """
    for name, number in (("share", share), ("level", level)):
        if not 0.0 < number < 1.0:
            raise ScoreDataError(f"{name}: expected a number between 0 and 1, found {number:g}")
    if side not in get_args(Side) or method not in get_args(ToleranceMethod):
        raise ValueError(f"expected a side and a method as documented, found {side!r}, {method!r}")
    with recorded() as notes:
        found = tuple(
            _tolerance(scores.runs(algorithm, task), algorithm, task, share, level, side, method)
            for task in scores.tasks
            for algorithm in scores.algorithms
            if task in scores.tasks_of(algorithm)
        )
        _name_too_few(found)
    scaled = {"scale": scores.scale, "higher_is_better": scores.higher_is_better}
    settings = made_by(None, **scaled, share=share, level=level, side=side, method=method)
    return Tolerances(found, settings, tuple(notes))


def _tolerance(
    runs: FloatArray,
    algorithm: str,
    task: str,
    share: float,
    level: float,
    side: Side,
    method: ToleranceMethod,
) -> Tolerance:
    """Return one interval; NaN and a warning that names the reason where there is none."""
    needed = 2 if method == "normal" else runs_for_tolerance(share, level, side=side)
    held = share_of_range(runs.size, level)
    low, high = math.nan, math.nan
    of = _order_ends if method == "order" else _normal_ends
    if runs.size < needed:
        pass  # told of once, for all
    elif method == "normal" and not np.isfinite(runs).all():
        warn(f"{algorithm} on {task}: not estimable, some runs are infinite (censored)")
    elif method == "normal" and runs.min() == runs.max():
        warn(f"{algorithm} on {task}: not estimable, scores do not vary")
    else:
        low, high = of(runs, share, level, side)
    return Tolerance(algorithm, task, share, low, high, level, method, runs.size, needed, held)


def _name_too_few(found: Sequence[Tolerance]) -> None:
    """Say where there are too few runs, and how many would do."""
    short = [one for one in found if one.n_runs < one.runs_needed]
    if short:
        most = max(short, key=lambda one: one.n_runs)
        where = listed([f"{one.algorithm} on {one.task}" for one in short])
        hint = "" if most.method == "normal" else ", or method normal if scores are normal"
        warn(
            f"a tolerance interval of {100 * most.share:g} % with confidence "
            f"{100 * most.level:g} % needs {most.runs_needed} runs{hint}; found at most "
            f"{most.n_runs}, whose range holds {100 * most.range_share:.0f} %: {where}"
        )


def _order_ends(runs: FloatArray, share: float, level: float, side: Side) -> tuple[float, float]:
    low, high = tolerance_ranks(runs.size, share, level, side=side)
    ends = np.concatenate([[-math.inf], np.sort(runs), [math.inf]])
    return float(ends[low]), float(ends[high])


def _normal_ends(runs: FloatArray, share: float, level: float, side: Side) -> tuple[float, float]:
    mean, spread = float(runs.mean()), float(runs.std(ddof=1))
    reach = spread * normal_factor(runs.size, share, level, side=side)
    low = -math.inf if side == "upper" else mean - reach
    return low, math.inf if side == "lower" else mean + reach


def tolerance_ranks(
    n_runs: int, share: float, level: float, *, side: Side = "two-sided"
) -> tuple[int, int]:
    """Return the ranks, from 1, of the runs that are the ends of a tolerance interval.

    Parameters
    ----------
    n_runs : int
        Number of runs, at least :func:`runs_for_tolerance`.
    share, level, side
        As in :func:`tolerance`.

    Returns
    -------
    low, high : int
        As near to each other as the confidence allows, 0 and ``n_runs + 1`` for an open side. As
        many runs lie beyond one end as beyond the other, or one more beyond the upper.

    Raises
    ------
    ValueError
        There are too few runs.

    Notes
    -----
    Between the ends lie m = high - low of the n + 1 gaps; the interval holds the share with
    confidence ``P(Binomial(n, share) < m)``.

    Examples
    --------
    >>> tolerance_ranks(46, 0.9, 0.95), tolerance_ranks(100, 0.9, 0.95)
    ((1, 46), (2, 98))
    >>> tolerance_ranks(100, 0.9, 0.95, side="lower")
    (5, 101)
    """
    from scipy import special

    gaps = np.arange(n_runs + 1)
    enough = special.bdtr(gaps - 1.0, n_runs, share) >= level  # NaN below 0 is not enough
    most = n_runs - 1 if side == "two-sided" else n_runs
    if most < 1 or not enough[most]:
        raise ValueError(f"{n_runs} runs are too few for {share:g} at {level:g}")
    inside = int(np.argmax(enough))
    outside = n_runs + 1 - inside
    if side == "two-sided":
        return outside // 2, n_runs + 1 - (outside - outside // 2)
    return (outside, n_runs + 1) if side == "lower" else (0, inside)


def runs_for_tolerance(share: float, level: float, *, side: Side = "two-sided") -> int:
    """Return the least number of runs from which order statistics make a tolerance interval.

    Examples
    --------
    >>> runs_for_tolerance(0.95, 0.95), runs_for_tolerance(0.95, 0.95, side="lower")
    (93, 59)
    """
    if side != "two-sided":
        return max(1, math.ceil(round(math.log1p(-level) / math.log(share), 9)))
    low, high = 1, 2
    while _range_confidence(high, share) < level:
        low, high = high, 2 * high
        if high > MOST_RUNS:
            raise ScoreDataError(
                f"share {share:g}: more than {MOST_RUNS:,} runs would be needed; take a lower one"
            )
    while high - low > 1:
        middle = (low + high) // 2
        short = _range_confidence(middle, share) < level
        low, high = (middle, high) if short else (low, middle)
    return high


def _range_confidence(n_runs: int, share: float) -> float:
    """Return how surely that share of all runs lies from the worst to the best of some."""
    return 1.0 - share ** (n_runs - 1) * (n_runs - (n_runs - 1) * share)


def share_of_range(n_runs: int, level: float) -> float:
    """Return the share of all runs that lies between the worst and the best of some runs.

    Examples
    --------
    >>> [round(share_of_range(n, 0.95), 3) for n in (1, 3, 5, 10, 46)]
    [0.0, 0.135, 0.343, 0.606, 0.901]
    """
    from scipy import special

    return float(special.betaincinv(n_runs - 1, 2, 1.0 - level)) if n_runs > 1 else 0.0


def normal_factor(n_runs: int, share: float, level: float, *, side: Side = "two-sided") -> float:
    """Return how many standard deviations from the mean a normal tolerance interval reaches.

    Parameters
    ----------
    n_runs : int
        At least 2.
    share, level, side
        As in :func:`tolerance`.

    Returns
    -------
    float
        For one end exact by the noncentral t distribution; for two ends by the exact integral over
        where the sample mean lies.

    Examples
    --------
    >>> round(normal_factor(10, 0.95, 0.95), 3)
    3.393
    >>> round(normal_factor(10, 0.95, 0.95, side="lower"), 3)
    2.911
    """
    from scipy import special

    df = n_runs - 1
    if side != "two-sided":
        distance = float(special.ndtri(share)) * math.sqrt(n_runs)
        return float(special.nctdtrit(df, distance, level)) / math.sqrt(n_runs)
    # Howe (1969) is within some per cent of it, from which the root is bracketed.
    near = special.ndtri((1.0 + share) / 2.0) * math.sqrt(
        df * (1.0 + 1.0 / n_runs) / special.chdtri(df, level)
    )
    return _root(n_runs, share, level, float(near))


def _root(n_runs: int, share: float, level: float, near: float) -> float:
    """Return the factor at which the interval holds the share with that confidence."""
    from scipy import optimize, special

    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    weights = weights / weights.sum()
    means = nodes / math.sqrt(n_runs)
    reach = np.array([_half_width(abs(mean), share) for mean in means])

    def lacking(factor: float) -> float:
        df = n_runs - 1
        return float(weights @ special.chdtrc(df, df * np.square(reach / factor))) - level

    return float(optimize.brentq(lacking, near / 2.0, near * 2.0, xtol=1e-10))


def _half_width(center: float, share: float) -> float:
    """Return half the width of the interval around a point that holds a share of N(0, 1)."""
    from scipy import optimize, special

    def held(half: float) -> float:
        return float(special.ndtr(center + half) - special.ndtr(center - half)) - share

    return float(optimize.brentq(held, 0.0, center + 10.0, xtol=1e-12))
