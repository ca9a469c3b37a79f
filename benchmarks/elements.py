"""Coverage of the ratio and the difference of median errors, and false effects, of `gohr elements`.

Errors of trials are drawn from four skewed populations; a second sample has 1.6 times their median,
or the same. In the `censored` rows a fifth of the trials never learn and stop at a lower count of
their errors. Each row is 400 pairs of samples; the nominal values are 95 % and 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gohr.experiments import Trials, compare_trials

Array = npt.NDArray[np.float64]
N_PAIRS, RATIO, N_RESAMPLES = 400, 1.6, 500
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


def measure() -> Iterator[Measurement]:
    """Yield the least coverage over the populations for each number of trials."""
    for censored in (False, True):
        for n in (10, 30, 100):
            rng = np.random.default_rng(n)
            covered: dict[str, list[float]] = {"ratio": [], "difference": [], "false": []}
            for draw in POPULATIONS.values():
                hits, median = np.zeros(3), _median(draw)
                for _ in range(N_PAIRS):
                    base = _trials(draw(rng, n), rng, censored=censored)
                    hard = _trials(RATIO * draw(rng, n), rng, censored=censored)
                    same = _trials(draw(rng, n), rng, censored=censored)
                    found = compare_trials(hard, base, n_resamples=N_RESAMPLES, rng=rng)
                    hits[0] += found.low <= RATIO <= found.high
                    low, high = found.difference_low, found.difference_high
                    hits[1] += low <= (RATIO - 1.0) * median <= high
                    hits[2] += compare_trials(same, base, n_resamples=1, rng=rng).p_value <= 0.05
                for name, share in zip(covered, hits / N_PAIRS, strict=True):
                    covered[name].append(100.0 * share)
            what = f"{n} trials" + (", a fifth censored" if censored else "")
            for name in ("ratio", "difference"):
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
            yield Measurement(
                f"false effects, {what}: most", max(covered["false"]), "%", 6.5, False, ""
            )
