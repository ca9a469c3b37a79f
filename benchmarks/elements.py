"""Coverage of ratios, differences and effects of tags, and false effects, of `gohr elements`.

Errors of trials are drawn from four skewed populations; a second sample has 1.6 times their median,
or the same. In the `censored` rows a fifth of the trials never learn and stop at a lower count of
their errors. Coverage is of 400 pairs of samples, false effects of 4,000 pairs of equal ones; the
nominal values are 95 % and 5 %.

Effects of tags: runs of two learners on 9 or 30 rules, each with some of three tags. One tag
multiplies the errors of the first learner by 3 and of the second by 1.5. Rules differ besides: not
at all, normally, skewedly, or three times as much where they have that tag.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gohr.experiments import Trials, compare_trials
from gohr.experiments.rule_tags import TagEffects, tag_effects_of

Array = npt.NDArray[np.float64]
N_PAIRS, N_NULLS, RATIO, N_RESAMPLES = 400, 4_000, 1.6, 500
POPULATIONS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "lognormal": lambda rng, n: np.exp(5.0 + 0.4 * rng.normal(size=n)),
    "gamma": lambda rng, n: rng.gamma(2.0, 80.0, n),
    "outliers": lambda rng, n: rng.gamma(9.0, 15.0, n) * np.where(rng.random(n) < 0.1, 8.0, 1.0),
    "counts": lambda rng, n: rng.negative_binomial(4, 0.05, n).astype(float) + 1.0,
}


def _median(draw: Callable[[np.random.Generator, int], Array]) -> float:
    return float(np.median(draw(np.random.default_rng(1), 2_000_000)))


def _trials(errors: Array, rng: np.random.Generator, *, censored: bool) -> Trials:
    never = rng.random(errors.size) < (0.2 if censored else 0.0)
    stopped = np.where(never, errors * rng.random(errors.size), errors)
    return Trials(stopped, ~never)


#: How a rule differs in log errors from what its tags say, by whether it has the tag with effects.
RULES: dict[str, Callable[[np.random.Generator, Array], Array]] = {
    "equal": lambda rng, tagged: np.zeros(tagged.size),
    "normal": lambda rng, tagged: 0.5 * rng.normal(size=tagged.size),
    "skewed": lambda rng, tagged: 0.5 * rng.exponential(size=tagged.size),
    "unequal": lambda rng, tagged: 0.3 * (1.0 + 2.0 * tagged) * rng.normal(size=tagged.size),
}
TAGS = {"order": 0.4, "memory": 0.3, "position": 0.2}
FACTORS = {"a": 3.0, "b": 1.5}
N_RUNS = 200


def measure() -> Iterator[Measurement]:
    """Yield the least coverage and the most false effects of rules, then of tags."""
    yield from _of_rules()
    yield from _of_tags()


def _of_rules() -> Iterator[Measurement]:
    """Yield the least coverage over the populations for each number of trials."""
    for censored in (False, True):
        for n in (10, 30, 100):
            rng = np.random.default_rng(n)
            covered: dict[str, list[float]] = {"ratio": [], "difference": []}
            false = []
            for draw in POPULATIONS.values():
                hits, median = np.zeros(2), _median(draw)
                for _ in range(N_PAIRS):
                    base = _trials(draw(rng, n), rng, censored=censored)
                    hard = _trials(RATIO * draw(rng, n), rng, censored=censored)
                    found = compare_trials(hard, base, n_resamples=N_RESAMPLES, rng=rng)
                    hits[0] += found.low <= RATIO <= found.high
                    low, high = found.difference_low, found.difference_high
                    hits[1] += low <= (RATIO - 1.0) * median <= high
                for name, share in zip(covered, hits / N_PAIRS, strict=True):
                    covered[name].append(100.0 * share)
                pairs = (
                    [_trials(draw(rng, n), rng, censored=censored) for _ in range(2)]
                    for _ in range(N_NULLS)
                )
                equal = [compare_trials(a, b, n_resamples=1, rng=rng).p_value for a, b in pairs]
                false.append(100.0 * float(np.mean(np.array(equal) <= 0.05)))
            what = f"{n} trials" + (", a fifth censored" if censored else "")
            for name in covered:
                note = ", ".join(
                    f"{p} {x:.1f}" for p, x in zip(POPULATIONS, covered[name], strict=True)
                )
                yield Measurement(
                    f"coverage of the {name}, {what}: least",
                    min(covered[name]),
                    "%",
                    93.0,
                    True,
                    note,
                )
            yield Measurement(f"false effects, {what}: most", max(false), "%", 6.0, False, "")


def _of_tags() -> Iterator[Measurement]:
    """Yield the least coverage of effects of tags and of interactions, and the false effects."""
    for n in (10, 30, 100):
        rng = np.random.default_rng(n)
        covered: dict[str, list[float]] = {"effects": [], "interactions": [], "false": []}
        for differ in RULES.values():
            for n_rules in (9, 30):
                hits: dict[str, list[bool]] = {name: [] for name in covered}
                for _ in range(N_RUNS):
                    for e in _effects(rng, n, n_rules, differ, FACTORS).where(tag="memory"):
                        true = FACTORS[e.learner] / FACTORS.get(e.versus, 1.0)
                        if not np.isnan(e.low):
                            kind = "interactions" if e.versus else "effects"
                            hits[kind].append(e.low <= true <= e.high)
                    null = _effects(rng, n, n_rules, differ, dict.fromkeys(FACTORS, 1.0))
                    hits["false"].append(any(e.p_adjusted <= 0.05 for e in null))
                for name, flags in hits.items():
                    covered[name].append(100.0 * float(np.mean(flags)))
        note = f"{len(covered['false'])} kinds of {N_RUNS} runs"
        for name in ("effects", "interactions"):
            what = f"coverage of {name} of tags, {n} trials: least"
            yield Measurement(what, min(covered[name]), "%", 91.0, True, note)
        what = f"runs with any false effect of a tag, {n} trials: most"
        yield Measurement(what, max(covered["false"]), "%", 7.0, False, note)


def _effects(
    rng: np.random.Generator,
    n: int,
    n_rules: int,
    differ: Callable[[np.random.Generator, Array], Array],
    factors: dict[str, float],
) -> TagEffects:
    """Return the effects in a simulated run, in which each tag has two rules or more."""
    tagged = np.zeros((n_rules, len(TAGS)), bool)
    while tagged.sum(axis=0).min() < 2:
        tagged = rng.random(tagged.shape) < [*TAGS.values()]
    has = tagged[:, [*TAGS].index("memory")]
    draw = [*POPULATIONS.values()][rng.integers(len(POPULATIONS))]
    shared = differ(rng, has)
    errors = {
        learner: {
            f"rule {i}": np.exp(level) * draw(rng, n)
            for i, level in enumerate(np.log(factor) * has + shared + differ(rng, has))
        }
        for learner, factor in factors.items()
    }
    names = np.array([*TAGS])
    tags_of = {f"rule {i}": set(names[row].tolist()) for i, row in enumerate(tagged)}
    return tag_effects_of(errors, tags_of)
