"""Loops of candidates: false keeps, claimed and true gains, and runs, beside greedy loops.

Effects of candidates on the present baseline, in standard deviations of the noise: a share is
better by an exponential amount of mean 1; half of the others are equal, half worse by such an
amount. The greedy loop runs each candidate once and keeps it if its score is the best so far. Each
loop has its own seed; there are 200, or as many as ``LOOPS`` says. A share of false keeps may
exceed its bound by three standard errors. Standard errors of ratios are over loops.
"""

from __future__ import annotations

import math
import os
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.record import Measurement
from gnomon.stats import Loop
from gnomon.stats.loops import GAIN_PAIRS, MEDIAN_STEP

N_LOOPS = int(os.environ.get("LOOPS", "200"))
NOISES = ("normal", "heavy-tailed", "drifting")

Array = npt.NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    """Give the figures of docs/gnomon/gate.md."""
    yield from _time()
    for noise in NOISES:
        yield from _greedy("100 candidates, none better", noise, 0.0, 100)
    for share, n in ((0.1, 100), (0.1, 700), (0.0, 700)):
        for noise in NOISES:
            for familywise in (False, True):
                yield from _study(Loop, noise, share, n, familywise)
    for method in (AlphaInvesting, Lord, Saffron, Halving):
        yield from _study(method, "normal", 0.1, 700, False)
    for familywise in (False, True):
        yield from _study(Loop, "normal", 0.3, 700, familywise)
        yield from _study(Loop, "normal", 0.1, 700, familywise, constant=True)


class AlphaInvesting(Loop):
    """Foster and Stine (2008): each test costs wealth, each keep earns the error."""

    wealth, n_tests, last = 0.0, 0, 0

    def _next_error(self, lead: float) -> float:
        self.n_tests += 1
        if self.n_tests == 1:
            self.wealth = self.error / 2.0
        return self.wealth / (1.0 + self.n_tests - self.last + self.wealth)

    def _end(self, one: Any, stage: str) -> None:
        super()._end(one, stage)
        if stage == "keep":
            self.wealth, self.last = self.wealth + self.error, self.n_tests
        elif one.error > 0.0:
            self.wealth -= one.error / (1.0 - one.error)


class Lord(Loop):
    """LORD++ (Ramdas, Yang, Wainwright and Jordan 2017): each keep earns the error.

    Half of what is earned is spent on the next 25 tests.
    """

    n_tests, half = 0, 25

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.starts, self.promising = [0], [0]

    def _next_error(self, lead: float) -> float:
        self.n_tests += 1
        wealth = [self.error / 2.0, self.error / 2.0] + [self.error] * len(self.starts)
        since = (
            (w, self._count_since(start)) for w, start in zip(wealth, self.starts, strict=False)
        )
        h = self.half
        return math.fsum(w * h / ((h + t) * (h + t - 1)) for w, t in since if t > 0)

    def _count_since(self, start: int) -> int:
        return self.n_tests - start

    def _end(self, one: Any, stage: str) -> None:
        if stage == "keep":
            self.starts.append(self.n_tests)
        if one.error > 0.0 and one.e_value >= 2.0:
            self.promising.append(self.n_tests)
        super()._end(one, stage)


class Saffron(Lord):
    """SAFFRON (Ramdas, Zrnic, Wainwright and Jordan 2018): tests with p <= 1/2 cost nothing."""

    def _next_error(self, lead: float) -> float:
        return min(0.5, 0.5 * super()._next_error(lead))

    def _count_since(self, start: int) -> int:
        return self.n_tests - start - sum(one > start for one in self.promising)


class Halving(Loop):
    """Batches of 16: the best four are run again, and the best one is tested."""

    batch = 16

    def _screen(self, one: Any) -> None:
        one.other = self.baseline
        one.scale = float(np.median(self._steps)) / MEDIAN_STEP
        one.ahead = one.score - float(np.median(self._recent))
        one.error = self._next_error(one.ahead / one.scale)


@dataclass
class Night:
    """What came of a loop."""

    gain: float = 0.0
    claim: float = 0.0
    n_kept: int = 0
    n_false: int = 0
    n_runs: int = 0
    n_covered: int = 0


def greedy(effects: Array, noise: Array) -> Night:
    """Return what a loop gains that keeps whatever has the best score so far."""
    night, best = Night(n_runs=effects.size + 1), noise[0]
    for effect, x in zip(effects, noise[1:], strict=False):
        if night.gain + effect + x > best:
            best = night.gain + effect + x
            night.gain += effect
            night.n_kept += 1
            night.n_false += effect <= 0.0
    night.claim = best - noise[0]
    return night


def guarded(loop: Loop, effects: Array, noise: Array) -> Night:
    """Return what a loop gains that runs what it is asked to run."""
    night, truth, runs = Night(), {"0": 0.0}, iter(noise.tolist())

    def run(name: str) -> None:
        night.n_runs += 1
        loop.add(name, truth[name] + next(runs))

    def obey(name: str | None) -> None:
        while asked := (loop.decide(name) if name else loop.decisions()[0]).run:
            run(asked[0])

    run("0")
    obey(None)
    batch = getattr(loop, "batch", 1)
    for start in range(0, effects.size, batch):
        effect = _best(effects[start : start + batch], runs, night)
        base = truth[loop.baseline]
        truth[name := str(start + 1)] = base + effect
        run(name)
        obey(name)
        if loop.baseline == name:
            found = loop.decide(name)
            night.n_kept += 1
            night.n_false += effect <= 0.0
            night.n_covered += found.low <= truth[name] <= found.high
            night.claim, night.gain = found.value, truth[name]
    return night


def _best(effects: Array, runs: Iterator[float], night: Night) -> float:
    """Return the effect of the best of a batch: all are run once, a quarter of them twice."""
    if effects.size == 1:
        return float(effects[0])
    means = effects + [next(runs) for _ in effects]
    four = np.argsort(-means)[: max(effects.size // 4, 1)]
    again = effects[four] + [next(runs) for _ in four]
    night.n_runs += effects.size + four.size - 1
    return float(effects[four[np.argmax(means[four] + again)]])


def drawn(
    seed: object, noise: str, share: float, n: int, constant: bool = False
) -> tuple[Array, Array]:
    """Return the effects of candidates, and the noise of runs in their order."""
    rng = np.random.default_rng(zlib.crc32(repr(seed).encode()))
    up, down = rng.exponential(size=(2, n))
    worse = np.where(rng.random(n) < 0.5, 0.0, -down)
    effects = np.where(rng.random(n) < share, 1.0 if constant else up, worse)
    t = np.arange(5 * n + 200)
    if noise == "heavy-tailed":
        return effects, rng.standard_t(3, t.size) / math.sqrt(3.0)
    values = rng.normal(size=t.size)
    if noise == "drifting":
        values += np.cumsum(0.05 * rng.normal(size=t.size))
        values += np.sin(t / 50.0 + 2.0 * math.pi * rng.random())
    return effects, values


def oracle(effects: Array, familywise: bool) -> float:
    """Return the gain of an oracle that knows the effects and tests only the k best candidates.

    With n pairs no result has a smaller probability than 2 ** -n if the candidate is not better,
    so a test at level a takes at least log2(1 / a) pairs. The k levels are the best that the bound
    on the error allows. After one run of each candidate as many runs are left as there are
    candidates, which also measure the gains.
    """
    gains, found = np.sort(effects)[::-1], 0.0
    for k in range(1, effects.size + 1):
        level = np.full(k, 0.05 / k) if familywise else 0.1 * np.arange(1, k + 1) / k
        if 2.0 * np.sum(np.ceil(-np.log2(level)) + GAIN_PAIRS) > effects.size:
            break
        found = float(gains[:k].sum())
    return found


def _greedy(what: str, noise: str, share: float, n: int) -> Iterator[Measurement]:
    nights = [greedy(*drawn((noise, share, n, i), noise, share, n)) for i in range(N_LOOPS)]
    kept, claim, gain = (
        float(np.mean([getattr(one, name) for one in nights]))
        for name in ("n_kept", "claim", "gain")
    )
    note = f"claims {claim:+.1f}, true {gain:+.1f}"
    yield Measurement(f"greedy, {noise}, {what}: kept", kept, "", note=note)


def _study(
    kind: type[Loop],
    noise: str,
    share: float,
    n: int,
    familywise: bool,
    *,
    constant: bool = False,
) -> Iterator[Measurement]:
    """Simulate loops of one kind, and greedy ones on the same effects and noise."""
    ours, theirs, limit = [], [], 0.0
    for i in range(N_LOOPS):
        known = drawn((noise, share, n, i), noise, share, n, constant)
        ours.append(guarded(kind(familywise=familywise), *known))
        theirs.append(greedy(*known))
        limit += oracle(known[0], familywise) / N_LOOPS
    gain, claim, n_kept, n_false, n_runs, n_covered = (
        np.array([getattr(one, name) for one in ours], float)
        for name in ("gain", "claim", "n_kept", "n_false", "n_runs", "n_covered")
    )
    false_share = 100.0 * float(np.mean(n_false / np.maximum(n_kept, 1.0)))
    any_false = 100.0 * float(np.mean(n_false > 0.0))
    of_greedy = np.array([one.gain for one in theirs])
    greedy_false = np.mean([one.n_false / max(one.n_kept, 1) for one in theirs])
    method = "family-wise" if familywise else "e-LOND" if kind is Loop else kind.__name__
    sizes = f"{share:.0%} better{' by 1' if constant else ''}, {n} candidates"
    what = f"{method}, {noise}, {sizes}, {N_LOOPS} loops"
    value, bound = (any_false, 0.05) if familywise else (false_share, 0.10)
    most = 100.0 * (bound + 3.0 * math.sqrt(bound * (1.0 - bound) / N_LOOPS))
    yield Measurement(
        f"{what}: {'any false keep' if familywise else 'false share'}", value, "%", most,
        higher_is_better=False,
        note=f"any false keep {any_false:.1f} %; kept {n_kept.mean():.1f}; greedy: false share "
        f"{100.0 * greedy_false:.0f} %",
    )  # fmt: skip
    yield Measurement(
        f"{what}: runs per candidate", n_runs.mean() / n, "", 2.0, higher_is_better=False,
        note=f"at most {n_runs.max() / n:.2f}",
    )  # fmt: skip
    if share == 0.0:
        return
    ratio, error = _ratio(gain, of_greedy)
    yield Measurement(
        f"{what}: true gain over that of greedy", ratio, "", 0.8,
        note=f"± {error:.3f}; {gain.mean():.1f} against {of_greedy.mean():.1f}; an oracle "
        f"{limit / of_greedy.mean():.2f}",
    )  # fmt: skip
    ratio, error = _ratio(claim, gain)
    yield Measurement(
        f"{what}: claimed over true gain, distance from 1",
        abs(100.0 * (ratio - 1.0)), "%", 5.0, higher_is_better=False,
        note=f"± {100.0 * error:.1f}; intervals cover "
        f"{100.0 * n_covered.sum() / max(n_kept.sum(), 1.0):.1f} %",
    )  # fmt: skip


def _ratio(x: Array, y: Array) -> tuple[float, float]:
    """Return the ratio of two means over loops, and its standard error."""
    ratio = float(x.mean() / y.mean())
    return ratio, float(np.std(x - ratio * y) / abs(y.mean()) / math.sqrt(x.size))


def _time() -> Iterator[Measurement]:
    """Time the slowest decision of a loop of 700 candidates, and all of it from its runs."""
    effects, noise = drawn("time", "normal", 0.1, 700)
    loop = Loop()
    guarded(loop, effects, noise)
    slowest, copy = 0.0, Loop()
    start = time.process_time()
    for name, score in loop.runs:
        begun = time.process_time()
        copy.add(name, score)
        if name != copy.first:
            copy.decide(name)
        slowest = max(slowest, time.process_time() - begun)
    whole = time.process_time() - start
    yield Measurement("slowest decision, CPU", 1e3 * slowest, "ms", 50.0, higher_is_better=False)
    note = f"{len(loop.runs)} runs, as from_file adds them"
    yield Measurement("all decisions of a loop, CPU", 1e3 * whole, "ms", 50.0, False, note)
