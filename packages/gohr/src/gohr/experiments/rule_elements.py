"""Effect of the elements of a rule on its difficulty for each learner, with intervals.

The question of Pulick et al. (2022). Every rule is compared with a *baseline*, a rule without the
element, by the errors of the trials. The errors of a trial that never learned its rule are a lower
bound (the trial is *censored*): two rules that no trial learned are not comparable.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from gnomon.errors import UnknownNameError, check_level, counted, joined
from gnomon.printing import p_value
from gnomon.results import FieldRecord, Results, generator, made_by
from gnomon.stats import holm, mann_whitney
from gohr.errors import ConfigError
from gohr.experiments.metrics import METRICS
from gohr.experiments.scores import RunEpisodes, opened

if TYPE_CHECKING:
    from gohr.experiments.config import ExperimentConfig
    from gohr.experiments.runs import Run

FloatArray = npt.NDArray[np.float64]
#: With fewer trials no interval of a median that rests on order alone reaches a level of 95 %:
#: 1 - 2 / 2**5 = 0.94.
LEAST_TRIALS = 6
#: Bootstrap resamples of each learner's trials on each rule.
N_RESAMPLES = 10_000
#: Least expected number of trials that learn a rule for a normal approximation (Cochran 1954).
_ENOUGH = 5
#: Rules named in a sentence.
_FEW = 4


class Trials(NamedTuple):
    """The errors of the trials of one learner on one rule, and which trials learned the rule."""

    errors: FloatArray
    learned: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Element(FieldRecord):
    """A rule compared with the baseline, for one learner.

    Parameters
    ----------
    learner, rule, baseline : str
        Their names in the experiment.
    ratio, low, high : float
        The median errors on the rule divided by those on the baseline, with the ends of the
        interval; NaN where no trial of either learned its rule.
    bound : str
        ``at least`` or ``at most`` if most trials on the rule, or on the baseline, did not learn
        it: the ratio is a bound then, and one end of the interval is infinite or zero. Else empty.
    difference, difference_low, difference_high : float
        The difference of the medians, in errors.
    p_value, p_adjusted : float
        One-sided test that the rule takes more errors to learn (Mann-Whitney; Gehan's where some
        trials did not learn a rule), before and after Holm's correction over all rows.
    ease_ratio : float
        Share of pairs of trials, one on each rule, in which the rule took fewer errors than the
        baseline. Ties and pairs of unknown order count one half: 0.5 is equally easy. NaN, like
        the p-values, where no trial learned its rule.
    n_trials, n_learned : int
        Trials on the rule, and those that learned it.
    """

    learner: str
    rule: str
    baseline: str
    ratio: float
    low: float
    high: float
    bound: str
    difference: float
    difference_low: float
    difference_high: float
    p_value: float
    p_adjusted: float
    ease_ratio: float
    n_trials: int
    n_learned: int


class Elements(Results[Element]):
    """Every rule compared with the baseline, for every learner."""

    columns = ("learner", "rule", "ratio", "difference", "ease", "p (Holm)", "learned")
    drawn_by = "gohr.run_page.figures:element_figure"

    @property
    def title(self) -> str:
        """The rule that the others are compared with."""
        return f"Errors compared with {self.settings['baseline']}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The level, the test, and the meaning of a bound."""
        level = f"{100 * self.settings['level']:g} %"
        notes = [
            f"Ratio and difference of median errors, with {level} bootstrap intervals; ease: share "
            "of pairs of trials in which the rule was easier; p: one-sided test that the rule is "
            "harder (Mann-Whitney; Gehan where some trials did not learn a rule)"
        ]
        if any(e.bound for e in self):
            notes.append("≥, ≤: most trials did not learn the rule or the baseline: a bound")
        return tuple(notes)

    def rows(self) -> Sequence[Mapping[str, Any]]:
        """Return a row for each rule and learner, intervals in brackets."""
        return [
            {
                "learner": e.learner,
                "rule": e.rule,
                "ratio": "not comparable"
                if math.isnan(e.p_value)
                else bracketed(e.ratio, e.low, e.high, "", e.bound),
                "difference": bracketed(
                    e.difference, e.difference_low, e.difference_high, ",.0f", e.bound
                ),
                "ease": "–" if math.isnan(e.ease_ratio) else f"{e.ease_ratio:.2f}",
                "p (Holm)": "–" if math.isnan(e.p_value) else p_value(e.p_adjusted),
                "learned": f"{e.n_learned} of {e.n_trials}",
            }
            for e in self
        ]

    def sentences(self) -> tuple[str, ...]:
        """Return one sentence for each learner: which rules are harder, hardest first."""
        level = self.settings["level"]
        found = []
        for learner in dict.fromkeys(e.learner for e in self):
            rows = [e for e in self if e.learner == learner]
            harder = [e for e in rows if e.p_adjusted <= 1.0 - level]
            harder.sort(key=lambda e: -math.inf if math.isnan(e.ratio) else -e.ratio)
            base = rows[0].baseline
            if all(math.isnan(e.p_value) for e in rows):
                found.append(
                    f"For {learner}, no rule can be compared with {base}: no trial learned its "
                    "rule; more episodes are needed."
                )
                continue
            if not harder:
                found.append(f"For {learner}, no rule is significantly harder than {base}.")
                continue
            first = joined([f"{e.rule} ({_more(e)})" for e in harder[:_FEW]])
            more = len(harder) - _FEW
            text = f"For {learner}, harder than {base}: {first}"
            found.append(f"{text}; and {counted(more, 'other')}." if more > 0 else f"{text}.")
        return tuple(found)


def elements(
    run: str | os.PathLike[str] | Run,
    baseline: str | None = None,
    *,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Elements:
    """Compare every rule of a run with a baseline, for each learner.

    The errors of a trial are all its errors (the terminal cumulated error). A trial that never had
    ten finished episodes in a row without an error has not learned its rule; its errors are a lower
    bound. Medians are those of the product-limit estimate, which is the ordinary median if every
    trial learned. Intervals are percentiles of the ratio, or difference, of resampled medians.

    Parameters
    ----------
    run : path or Run
    baseline : str, optional
        The rule to compare with; by default the ``baseline`` of the experiment.
    level : float
        Confidence level of the intervals, between 0 and 1.
    rng : numpy.random.Generator or int, optional
        A seed or a generator; 0 by default.

    Returns
    -------
    Elements
        A row for each learner and each other rule that it played. With fewer than six trials on
        either rule there is no interval, and a warning is given.

    Raises
    ------
    ConfigError
        No baseline is given, or the run has no trial on it.
    UnknownNameError
        The run does not have the rule.

    Warns
    -----
    StuckRuleWarning
        If a rule lets no piece move on most boards as they are dealt.

    References
    ----------
    Pulick, Menkov, Mintz, Kantor and Bier (2022), "The Game of Hidden Rules". Kaplan and Meier
    (1958) for medians, Gehan (1965) and Tarone and Ware (1977) for tests of censored trials.

    Examples
    --------
    >>> import tempfile
    >>> import gohr
    >>> config = gohr.ExperimentConfig(
    ...     "memory", ["color-match", "clockwise"], ["tabular_q"], trials=8, episodes=60
    ... )
    >>> with tempfile.TemporaryDirectory() as out:
    ...     found = gohr.elements(gohr.run(config, out), "color-match")
    >>> found[0].rule, found[0].n_trials
    ('clockwise', 8)
    """
    check_level(level)
    folder, episodes = opened(run)
    return elements_of(folder.config, baseline, trials_by_rule(episodes), level=level, rng=rng)


def elements_of(
    config: ExperimentConfig,
    baseline: str | None,
    played: Mapping[str, Mapping[str, Trials]],
    *,
    level: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Elements:
    """Return :func:`elements` of trials that have been read."""
    baseline = baseline or config.baseline
    names = [rule.name for rule in config.rules]
    if baseline is None:
        raise ConfigError(
            f"expected a baseline, one of the rules {joined(names, 'or')}, found none; "
            "name one (--baseline)"
        )
    if baseline not in names:
        raise UnknownNameError("baseline", baseline, names)
    if names == [baseline]:
        raise ConfigError(f"expected a rule to compare with {baseline!r}, found the baseline alone")
    if not any(baseline in rules for rules in played.values()):
        raise ConfigError(f"the run has no trial on the baseline {baseline!r}")
    draw = generator(rng)
    found, few = [], []
    for learner, rules in played.items():
        if baseline not in rules:
            few.append(f"{learner} has no trial on {baseline} and is left out")
            continue
        if not rules[baseline].learned.any():
            few.append(f"no trial of {learner} learned {baseline}: its errors are lower bounds")
        base = _Medians.of(rules[baseline], N_RESAMPLES, draw)
        for rule in (name for name in names if name in rules and name != baseline):
            one = _element(_Medians.of(rules[rule], N_RESAMPLES, draw), base, level)
            found.append(replace(one, learner=learner, rule=rule, baseline=baseline))
            if math.isnan(found[-1].low) and not math.isnan(found[-1].ratio):
                few.append(f"{learner} on {rule}: fewer than {LEAST_TRIALS} trials, no interval")
    adjusted = holm([e.p_value for e in found])
    records = tuple(replace(e, p_adjusted=float(p)) for e, p in zip(found, adjusted, strict=True))
    settings = made_by(rng, baseline=baseline, level=level, n_resamples=N_RESAMPLES)
    return Elements(records, settings, tuple(few))


def trials_by_rule(episodes: RunEpisodes) -> dict[str, dict[str, Trials]]:
    """Return the trials of each learner on each rule, from the episodes of a run."""
    made: dict[str, dict[str, list[tuple[float, float]]]] = {}
    errors, learned = METRICS["tce"].compute, METRICS["learned"].compute
    for record, trial in episodes.items():
        one = float(errors(*trial)), float(learned(*trial))
        made.setdefault(record.learner, {}).setdefault(record.rule, []).append(one)
    return {
        learner: {
            rule: Trials(np.array([e for e, _ in pairs]), np.array([x > 0 for _, x in pairs]))
            for rule, pairs in rules.items()
        }
        for learner, rules in made.items()
    }


def product_limit_medians(
    trials: Trials, weights: npt.NDArray[np.int64] | None = None
) -> FloatArray:
    """Return product-limit medians of resamples; infinite where half of a resample is not reached.

    ``weights``, shape (resamples, trials), is the number of times that each resample contains each
    trial; by default the trials themselves.
    """
    order = np.lexsort((~trials.learned, trials.errors))  # for equal errors, those learned first
    values = np.append(trials.errors[order], np.inf)
    drawn = np.ones((1, len(order)), np.int64) if weights is None else weights[:, order]
    at_risk = drawn[:, ::-1].cumsum(axis=1)[:, ::-1]
    ends = np.where(trials.learned[order], drawn, 0)
    left = np.cumprod(1.0 - ends / np.maximum(at_risk, 1), axis=1)
    half = 0.5 + 1e-12 * np.array([1.0, -1.0])
    lower, upper = (
        np.where((left <= x).any(axis=1), (left <= x).argmax(axis=1), len(order)) for x in half
    )
    return np.asarray((values[lower] + values[upper]) / 2.0)


def compare_trials(
    trials: Trials,
    baseline: Trials,
    *,
    level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    rng: np.random.Generator | int | None = None,
) -> Element:
    """Compare the trials on a rule with those on a baseline, as :func:`elements` does for a run.

    Parameters
    ----------
    trials, baseline : Trials
        Errors of each trial, and whether it learned its rule.
    level, n_resamples, rng
        As in :func:`elements`.

    Returns
    -------
    Element
        Without names, and without a correction for other comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> hard = Trials(np.arange(30.0, 42.0), np.ones(12, bool))
    >>> easy = Trials(np.arange(10.0, 22.0), np.ones(12, bool))
    >>> found = compare_trials(hard, easy)
    >>> round(found.ratio, 2), found.ease_ratio
    (2.29, 0.0)
    """
    draw = generator(rng)
    own, base = (_Medians.of(x, n_resamples, draw) for x in (trials, baseline))
    return _element(own, base, level)


class _Medians(NamedTuple):
    """Trials, their median, a lower bound of it, and both for each resample."""

    trials: Trials
    median: float
    least: float
    medians: FloatArray
    leasts: FloatArray

    @classmethod
    def of(cls, trials: Trials, n_resamples: int, rng: np.random.Generator) -> _Medians:
        n = len(trials.errors)
        weights = rng.multinomial(n, np.full(n, 1.0 / n), size=n_resamples)
        both = trials, trials._replace(learned=np.ones(n, bool))
        median, least = (float(product_limit_medians(x)[0]) for x in both)
        return cls(trials, median, least, *(product_limit_medians(x, weights) for x in both))


def _element(own: _Medians, base: _Medians, level: float) -> Element:
    """Return the comparison, without names."""
    reached = math.isfinite(own.median), math.isfinite(base.median)
    a, many_a = (own.median, own.medians) if reached[0] else (own.least, own.leasts)
    b, many_b = (base.median, base.medians) if reached[1] else (base.least, base.leasts)
    tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, difference = float(np.divide(a, b)), a - b
        ends = [_ends(many_a / many_b, tails), _ends(many_a - many_b, tails)]
    n, m = len(own.trials.errors), len(base.trials.errors)
    if min(n, m) < LEAST_TRIALS:
        ends = [(math.nan, math.nan)] * 2
    if not any(reached):
        ratio = difference = math.nan
        ends = [(math.nan, math.nan)] * 2
    elif not reached[0]:
        ends = [(low, math.inf) for low, _ in ends]
    elif not reached[1]:
        ends = [(least, high) for least, (_, high) in zip((0.0, -math.inf), ends, strict=True)]
    bound = "" if all(reached) or not any(reached) else "at most" if reached[0] else "at least"
    p, ease = rank_test(own.trials, base.trials, alternative="greater"), math.nan
    if not math.isnan(p):
        ease = 0.5 - float(_order(own.trials, base.trials).sum()) / (2.0 * n * m)
    (low, high), (difference_low, difference_high) = ends
    return Element(
        "", "", "", ratio, low, high, bound, difference, difference_low, difference_high,
        p, p, ease, n, int(own.trials.learned.sum()),
    )  # fmt: skip


def _ends(values: FloatArray, tails: FloatArray) -> tuple[float, float]:
    """Return percentiles of values, infinite ones included; NaN if a ratio was 0 / 0."""
    if np.isnan(values).any():
        return math.nan, math.nan
    low, high = np.quantile(values, tails, method="inverted_cdf")
    return float(low), float(high)


def _order(a: Trials, b: Trials) -> npt.NDArray[np.int64]:
    """Return 1 where a trial of a surely took more errors than one of b, -1 where fewer, else 0."""
    x, y = a.errors[:, None], b.errors[None, :]
    more = b.learned[None, :] & ((x > y) | ((x == y) & ~a.learned[:, None]))
    fewer = a.learned[:, None] & ((y > x) | ((x == y) & ~b.learned[None, :]))
    order: npt.NDArray[np.int64] = np.subtract(more, fewer, dtype=np.int64)
    return order


def rank_test(
    a: Trials, b: Trials, *, alternative: Literal["two-sided", "greater"] = "two-sided"
) -> float:
    """Return the p-value of the test that trials on two rules take equally many errors to learn.

    It is the Mann-Whitney test where every trial learned its rule. Otherwise it is Gehan's test in
    the form of a weighted log-rank test, which remains valid where trials on the two rules stop at
    different numbers of errors: at each number of errors at which trials learned, the number that
    learned is compared with the expected one, weighted by the trials still at risk. The null
    distribution is exact where fewer than five trials are expected to learn one of the rules, and
    normal elsewhere. ``greater``: a takes more errors. NaN where no trial learned its rule.
    """
    if not (a.learned.any() or b.learned.any()):
        return math.nan
    if a.learned.all() and b.learned.all():
        return mann_whitney(a.errors, b.errors, alternative=alternative)[1]
    ends = np.concatenate([a.errors[a.learned], b.errors[b.learned]])
    at, n_learned = np.unique(ends, return_counts=True)
    n_a, n_b = ((x.errors[:, None] >= at).sum(axis=0) for x in (a, b))
    of_a, n = (a.errors[a.learned][:, None] == at).sum(axis=0), n_a + n_b
    expected = n_learned * n_a / n
    if min(expected.sum(), len(ends) - expected.sum()) >= _ENOUGH:
        variance = (n_learned * n_a * n_b * (n - n_learned) / np.maximum(n - 1, 1)).sum()
        z = float((n * (of_a - expected)).sum() / np.sqrt(2.0 * variance))
        fewer, more = math.erfc(-z) / 2.0, math.erfc(z) / 2.0
    else:
        chances, seen = np.ones(1), int((n * of_a).sum())
        for k, n_k, a_k, b_k in zip(n_learned, n, n_a, n_b, strict=True):
            own = np.zeros(k * n_k + 1)  # place: the number of trials of a, times the weight
            own[::n_k] = [math.comb(a_k, j) * math.comb(b_k, k - j) for j in range(k + 1)]
            chances = np.convolve(chances, own / math.comb(n_k, k))
        fewer, more = float(chances[: seen + 1].sum()), float(chances[seen:].sum())
    return min(1.0, fewer if alternative == "greater" else 2.0 * min(fewer, more))


def bracketed(value: float, low: float, high: float, form: str, bound: str = "") -> str:
    """Return a value with its interval in brackets, as far as they exist."""
    if math.isnan(value):
        return "not estimable"
    text = {"at least": "≥ ", "at most": "≤ "}.get(bound, "") + _number(value, form)
    if math.isnan(low):
        return text
    return f"{text} [{_number(low, form)}, {_number(high, form)}]"


def _number(value: float, form: str) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return format(value, form or (",.0f" if abs(value) >= 100 else "#.3g" if value else ".0f"))


def _more(e: Element) -> str:
    """Return in words how many more errors a rule took than the baseline."""
    if math.isnan(e.ratio):
        return "the ratio is not estimable: most trials learned neither rule"
    if math.isinf(e.ratio):
        return f"{_number(e.difference, ',.0f')} errors more; the baseline took none"
    return f"{bracketed(e.ratio, e.low, e.high, '', e.bound)} times the errors"
