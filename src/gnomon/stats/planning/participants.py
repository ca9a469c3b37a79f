"""Power of a study with participants and rules, by simulation from a pilot.

Participants differ, rules differ, and what is left is chance: three variances, which a pilot tells.
A study of two conditions is then drawn again and again, and analysed as it will be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar

import numpy as np

from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, generator, made_by
from gnomon.scores.table import FloatArray, ScoreTable
from gnomon.stats.items.proportions import wilson


@dataclass(frozen=True)
class StudyPower(FieldRecord):
    """How probably a study of so many participants and rules finds an effect.

    Parameters
    ----------
    participants : int
        In all, half in each condition, or half in each order.
    rules : int
        That each plays.
    ratio : float
        Errors in the one condition over those in the other.
    power, low, high : float
        Share of simulated studies that find it, with its interval.

    Examples
    --------
    >>> StudyPower(40, 4, 0.7, 0.81, 0.77, 0.85).power
    0.81
    """

    participants: int
    rules: int
    ratio: float
    power: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class StudyPowers(Results[StudyPower]):
    """Power of studies of several sizes.

    Examples
    --------
    >>> StudyPowers(()).drawn_by
    'gnomon.plot.planning:draw_study_powers'
    """

    drawn_by: ClassVar[str | None] = "gnomon.plot.planning:draw_study_powers"

    @property
    def title(self) -> str:
        """What is compared, and by which test."""
        s = self.settings
        design = "within participants" if s["within"] else "between participants"
        rules = "rules a sample" if s["random_rules"] else "these rules"
        return f"power to find a ratio of errors {design}, {rules}, level {s['level']:g}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The spreads that the pilot tells, and the least size that is enough."""
        s = self.settings
        spreads = (
            f"Spread of log errors in the pilot: participants {s['participant_sd']:.2f}, rules "
            f"{s['rule_sd']:.2f}, rest {s['residual_sd']:.2f}."
        )
        enough = [one for one in self if one.power >= s["goal"]]
        if not enough:
            return (spreads, f"No size that was tried has a power of {s['goal']:g}.")
        least = min(enough, key=lambda one: (one.participants * one.rules, one.participants))
        return (
            spreads,
            f"Least work for a power of {s['goal']:g}: {least.participants} participants with "
            f"{least.rules} rules each.",
        )


def plan_participants(
    pilot: ScoreTable,
    *,
    ratio: float = 0.7,
    participants: Sequence[int] = (10, 20, 40, 80),
    rules: Sequence[int] = (2, 4, 8),
    within: bool = False,
    random_rules: bool = False,
    effect_sd: float = 0.0,
    goal: float = 0.8,
    n_simulations: int = 2000,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> StudyPowers:
    r"""Simulate studies of two conditions, with the spreads of a pilot.

    The logarithm of errors plus one is taken as
    :math:`\mu + \text{rule}_j + \text{participant}_i + \text{rest}_{ij}`. Effects are those of the
    pilot, shrunk to the variances that the method of moments gives, and drawn with replacement.
    Between participants, the means of participants are compared by Welch's test; within, each
    participant plays half of the rules in each condition, those who began otherwise cancel the
    difference of the halves, and Welch's test compares the two orders. If rules are a sample as
    well, the test is Clark's min F'.

    Parameters
    ----------
    pilot : ScoreTable
        Errors, or other counts of which fewer is better, by participant and rule; participants go
        by the attribute ``player``, or are algorithms; rules by ``rule``, or are tasks.
    ratio : float
        Errors in the one condition over those in the other, the effect to be found; above 0.
    participants, rules : sequence of int
        Sizes to try; participants at least 4 in all, rules at least 1, and 2 within participants
        or as a sample.
    within : bool
        Both conditions in each participant.
    random_rules : bool
        The study is to speak of rules not tried.
    effect_sd : float
        Standard deviation, over rules, of the logarithm of the ratio.
    goal : float
        The power that is wanted.
    n_simulations : int
    level : float
        1 minus the level of the test.
    rng : numpy.random.Generator or int, optional
    progress : callable, optional

    Returns
    -------
    StudyPowers

    Raises
    ------
    ScoreDataError
        The pilot has fewer than three participants or two rules, or scores are negative or
        censored; a size cannot be.

    References
    ----------
    Clark (1973), J. Verbal Learning and Verbal Behavior 12:335, for min F'.

    Examples
    --------
    >>> draws = np.random.default_rng(0)
    >>> errors = {f"p{i}": [draws.poisson([10, 20, 30])] for i in range(12)}
    >>> pilot = ScoreTable.from_arrays(errors, higher_is_better=False)
    >>> found = plan_participants(pilot, participants=[20], rules=[3], n_simulations=200)
    >>> found[0].power
    1.0
    """
    _check(ratio, participants, rules, many=within or random_rules)
    effects = _effects(pilot)
    draws = generator(rng)
    sizes = list(product(participants, rules))
    records = []
    for done, (n, m) in enumerate(sizes, 1):
        p_values = _p_values(effects, n, m, (math.log(ratio), effect_sd), n_simulations, draws,
                             within=within, random_rules=random_rules)  # fmt: skip
        power = float(np.mean(p_values <= 1 - level))
        low, high = wilson(power, n_simulations, level=level)
        records.append(StudyPower(n, m, ratio, power, float(low), float(high)))
        progress(done, len(sizes))
    settings = made_by(
        rng, within=within, random_rules=random_rules, level=level, goal=goal,
        n_simulations=n_simulations, participant_sd=_spread(effects.participants),
        rule_sd=_spread(effects.rules), residual_sd=_spread(effects.rest),
    )  # fmt: skip
    return StudyPowers(tuple(records), settings)


def _check(ratio: float, participants: Sequence[int], rules: Sequence[int], many: bool) -> None:
    if not (ratio > 0 and math.isfinite(ratio)):
        raise ScoreDataError(f"ratio: expected a number above 0, found {ratio:g}")
    if min(participants) < 4:
        raise ScoreDataError(f"participants: expected at least 4, found {min(participants)}")
    if min(rules) < 1 + many:
        raise ScoreDataError(f"rules: expected at least {1 + many}, found {min(rules)}")


@dataclass(frozen=True)
class _Effects:
    """What a pilot tells, on the scale of logarithms, with the variances that are estimated."""

    participants: FloatArray
    rules: FloatArray
    rest: FloatArray


def _spread(effects: FloatArray) -> float:
    return float(np.sqrt(np.mean(effects**2)))


def _effects(pilot: ScoreTable) -> _Effects:
    """Fit participants and rules, and shrink the effects to the variances by moments."""
    y = _log_errors(pilot)
    there = ~np.isnan(y)
    n, m = y.shape
    people, rules, mean = np.zeros(n), np.zeros(m), float(np.nanmean(y))
    for _ in range(200):  # Back-fitting; one round is enough where nothing is missing.
        people = np.nanmean(y - mean - rules, axis=1)
        people -= people.mean()
        rules = np.nanmean(y - mean - people[:, None], axis=0)
        rules -= rules.mean()
        mean = float(np.nanmean(y - people[:, None] - rules))
    rest = (y - mean - people[:, None] - rules)[there]
    free = max(int(there.sum()) - n - m + 1, 1)
    variance = float((rest**2).sum()) / free
    return _Effects(
        _shrunk(people, variance * float(np.mean(1 / there.sum(axis=1)))),
        _shrunk(rules, variance * float(np.mean(1 / there.sum(axis=0)))),
        rest * math.sqrt(variance / max(float(np.mean(rest**2)), 1e-300)),
    )


def _shrunk(effects: FloatArray, noise: float) -> FloatArray:
    """Return effects with their variance less that of the noise in them."""
    found = float(effects @ effects) / (effects.size - 1)
    real = max(found - noise, 0.0)
    size = float(effects @ effects) / effects.size
    return effects * math.sqrt(real / size) if size > 0 else effects


def _log_errors(pilot: ScoreTable) -> FloatArray:
    """Return log(1 + errors) by participant and rule, NaN where one did not play the other."""
    cells: dict[tuple[str, str], list[float]] = {}
    for row in pilot.to_records():
        if row.get("censored") or (row["score"] is not None and row["score"] < 0):
            raise ScoreDataError(
                f"{row['algorithm']} on {row['task']}: expected a number of errors in a pilot, "
                "found a censored or negative score; score errors (--metric errors)"
            )
        if row["score"] is not None:
            who, rule = row.get("player") or row["algorithm"], row.get("rule") or row["task"]
            cells.setdefault((who, rule), []).append(row["score"])
    people = sorted({who for who, _ in cells})
    rules = sorted({rule for _, rule in cells})
    if len(people) < 3 or len(rules) < 2:
        raise ScoreDataError(
            "expected a pilot of at least three participants and two rules; found "
            f"{len(people)} and {len(rules)}"
        )
    y = np.full((len(people), len(rules)), np.nan)
    for (who, rule), values in cells.items():
        y[people.index(who), rules.index(rule)] = math.log1p(sum(values) / len(values))
    return y


def _p_values(
    effects: _Effects,
    n: int,
    m: int,
    effect: tuple[float, float],
    n_simulations: int,
    rng: np.random.Generator,
    *,
    within: bool,
    random_rules: bool,
) -> FloatArray:
    """Draw studies, and test each."""
    size = n_simulations
    rules = rng.choice(effects.rules, (size, 1, m))
    people = rng.choice(effects.participants, (size, n, 1))
    y = rules + people + rng.choice(effects.rest, (size, n, m))
    group = np.arange(n) % 2 == 1
    treated = (
        group[:, None] ^ (np.arange(m) % 2 == 1) if within else np.repeat(group[:, None], m, 1)
    )
    y += treated * (effect[0] + effect[1] * rng.standard_normal((size, 1, m)))
    if within:
        # Of each participant, the one half of the rules less the other, in an order of the own.
        even, odd = (y[:, :, start::2].mean(axis=2) for start in (0, 1))
        score = even - odd
    else:
        score = y.mean(axis=2)
    f1, df1 = _welch(score[:, group], score[:, ~group])
    if not random_rules:
        return _p_of(f1, df1)
    weights = treated / treated.sum(axis=0) - ~treated / (~treated).sum(axis=0)
    by_rule = (y * weights).sum(axis=1)
    spread = by_rule.var(axis=1, ddof=1) / m
    f2 = by_rule.mean(axis=1) ** 2 / np.maximum(spread, 1e-300)
    smaller = f1 * f2 / np.maximum(f1 + f2, 1e-300)
    df = (f1 + f2) ** 2 / np.maximum(f1**2 / (m - 1) + f2**2 / df1, 1e-300)
    return _p_of(smaller, df)


def _welch(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Welch's squared statistic of each row, and its degrees of freedom."""
    parts = [x.var(axis=1, ddof=1) / x.shape[1] for x in (a, b)]
    total = np.maximum(parts[0] + parts[1], 1e-300)
    df = total**2 / np.maximum(
        sum(v**2 / (x.shape[1] - 1) for v, x in zip(parts, (a, b), strict=True)), 1e-300
    )
    return (a.mean(axis=1) - b.mean(axis=1)) ** 2 / total, df


def _p_of(f: FloatArray, df: Any) -> FloatArray:
    from scipy.special import fdtrc

    return np.asarray(fdtrc(1.0, df, f))
