"""Gates: how often a claim is decided wrongly, and what is detected, in simulated studies.

Each line has its own seed and 400 studies, or as many as ``GATE_STUDIES`` says. The probability of
any wrong decision on one side is 2.5 % by the level; three standard errors are allowed. The peers
evalsig, evalstats and statsmodels decide on the first 100 of the same studies, with correlation 0.3
within clusters, where they are installed.
"""

from __future__ import annotations

import math
import os
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit
from scipy.stats import multinomial

import gnomon as gn
from benchmarks.record import Measurement
from gnomon.results import noted
from gnomon.stats.clusters import Clusters
from gnomon.stats.items import ItemDifferences

N_STUDIES = int(os.environ.get("GATE_STUDIES", "400"))
N_OF_PEERS = min(N_STUDIES, 100)
ERROR = 0.025
MOST = 100.0 * (ERROR + 3.0 * math.sqrt(ERROR * (1.0 - ERROR) / N_STUDIES))

Array = npt.NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    """Give the figures of docs/gnomon/gate.md."""
    yield from _enumerated()
    yield from _groups()
    yield from _percent()
    yield from _near_the_ceiling()
    yield from _tasks()


def _rng(*what: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def _wrong(what: str, n: int, note: str = "") -> Measurement:
    value = 100.0 * n / N_STUDIES
    return Measurement(what, value, "%", MOST, higher_is_better=False, note=note)


def _items(scores: Array, cluster: npt.NDArray[np.int64] | None = None) -> gn.ScoreTable:
    n = np.arange(scores.size)
    columns: Mapping[str, Any] = {
        "algorithm": ["m"] * n.size,
        "task": n,
        "group": n % 4 if cluster is None else cluster,
        "score": scores,
    }
    return gn.ScoreTable(columns, units="items", cluster=None if cluster is None else "group")


def _enumerated() -> Iterator[Measurement]:
    """Right or wrong answers: over all numbers of items that only one of two models solves."""
    shares = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
    for n in (20, 50, 100):
        up, down = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)], float).T
        value, ones = (up - down) / n, np.ones(up.size)
        variance = np.maximum((up + down) / n - value**2, 0.0) / (n - 1)
        known = n * ones, n * ones, value, variance, (n - 1) * ones, up, down
        found = ItemDifferences(*known, bounded=ones > 0.0, clustered=ones < 0.0)
        for margin in (0.0, 0.02, 0.1):
            wrong = found.tail(-margin, 1.0) <= ERROR
            cells = np.stack([up, down, n - up - down], axis=1)[wrong]
            worst = max(
                float(multinomial.pmf(cells, n, [(x - margin) / 2, (x + margin) / 2, 1 - x]).sum())
                for x in shares
                if x >= margin
            )
            yield Measurement(
                f"{n} items, true loss of the margin {margin}, enumerated: passed",
                100.0 * worst, "%", 2.8, higher_is_better=False,
                note=f"most over {shares[0]} to {shares[-1]} of the items answered differently",
            )  # fmt: skip


def _groups() -> Iterator[Measurement]:
    """Equal models on 200 items in four groups, and one that loses what is detectable."""
    rng, wrong, found = _rng("groups"), 0, 0
    for _ in range(N_STUDIES):
        ease = rng.beta(3.0, 1.0, 200)
        old, new = (rng.random((2, 200)) < ease).astype(np.float64)
        base = _items(old)
        with noted():
            every = gn.gate(_items(new), base, regression=True, superior=True, by="group")
            wrong += any(one.holds == (one.claim == "superior") for one in every)
            (one,) = gn.gate(_items(new), base, regression=True)
            lost = np.clip(ease - one.detectable / ease.mean() * ease, 0.0, 1.0)
            worse = (rng.random(200) < lost).astype(np.float64)
            found += not gn.gate(_items(worse), base, regression=True).passed
    yield _wrong("equal models, 2 claims, 200 items and 4 groups: any wrong decision", wrong)
    power = 100.0 * found / N_STUDIES
    yield Measurement("power at the smallest detectable effect", power, "%", 72.0, note="80 meant")


def _percent() -> Iterator[Measurement]:
    for share in (0.5, 0.95):
        rng, wrong = _rng("percent", share), 0
        for _ in range(N_STUDIES):
            ease = rng.beta(4.0 * share, 4.0 * (1.0 - share), 100)
            old, new = (rng.random((2, 100)) < [ease, 0.9 * ease]).astype(np.float64)
            wrong += gn.gate(_items(new), _items(old), non_inferior="10%").passed
        yield _wrong(f"true loss of 10 %, margin 10 %, share {share}: passed", wrong)


def _answers(rng: np.random.Generator, codes: npt.NDArray[np.int64], within: float) -> Array:
    own = rng.normal(size=int(codes.max()) + 1)[codes]
    return math.sqrt(within) * own + math.sqrt(1.0 - within) * rng.normal(size=codes.size)


def _gnomon(old: Array, new: Array, codes: npt.NDArray[np.int64] | None) -> tuple[float, float]:
    """Return a 95 % interval of NEW minus BASE from their scores and the clusters, or None."""
    with noted():
        (one,) = gn.gate(_items(new, codes), _items(old, codes), regression=True)
    return one.low, one.high


def _cr2(old: Array, new: Array, codes: npt.NDArray[np.int64] | None) -> tuple[float, float]:
    """Cluster-robust errors of CR2 and Student's t, with no care for few clusters."""
    of = Clusters.numbered(np.arange(new.size) if codes is None else codes)
    sums = of.residual_sums(new - old)
    half = float(stdtrit(of.df, 1.0 - ERROR)) * math.sqrt(float(sums @ sums)) / new.size
    value = float((new - old).mean())
    return value - half, value + half


def _evalsig(old: Array, new: Array, codes: npt.NDArray[np.int64] | None) -> tuple[float, float]:
    import evalsig

    def frame(scores: Array) -> Any:
        items = [
            evalsig.ItemResult(str(i), float(x), None if codes is None else str(codes[i]))
            for i, x in enumerate(scores)
        ]
        return evalsig.RunFrame("run", "model", "task", "accuracy", items)

    by = None if codes is None else "cluster_id"
    low, high = evalsig.compare(frame(old), frame(new), cluster=by).ci
    return low, high


def _evalstats(old: Array, new: Array, codes: npt.NDArray[np.int64] | None) -> tuple[float, float]:
    import evalstats

    rng = np.random.default_rng(0)
    found = evalstats.pairwise_differences(np.stack([old, new]), 1, 0, rng=rng)
    return found.ci_low, found.ci_high


def _statsmodels(
    old: Array, new: Array, codes: npt.NDArray[np.int64] | None
) -> tuple[float, float]:
    import statsmodels.api as sm

    model = sm.OLS(new - old, np.ones(new.size))
    by: dict[str, Any] = {"cov_type": "HC1"} if codes is None else {
        "cov_type": "cluster", "cov_kwds": {"groups": codes}
    }  # fmt: skip
    low, high = model.fit(**by, use_t=True).conf_int()[0]
    return float(low), float(high)


def _near_the_ceiling() -> Iterator[Measurement]:
    """Items alone and in clusters: equal models, .98 against .93, and the peers on the same."""
    drawn = np.exp(np.random.default_rng(10).normal(0.0, 1.0, 10) - 0.5)
    unequal = np.maximum(1, np.round(10 * drawn)).astype(np.int64)
    clustered = (
        ("40 clusters of 5", np.repeat(np.arange(40), 5)),
        ("10 lognormal clusters", np.repeat(np.arange(10), unequal)),
    )
    designs = (
        *((name, codes, 0.3) for name, codes in clustered),
        *((name, codes, 0.1) for name, codes in clustered),
        ("200 items", None, 0.3),
    )
    for name, codes, within in designs:
        own = np.arange(200) if codes is None else codes
        rng, studies, passed = _rng("clusters", name, within), [], 0
        for _ in range(N_STUDIES):
            shared = _answers(rng, own, within)
            old, same, new = (
                ((shared + _answers(rng, own, within)) / 2**0.5 < ndtri(share)).astype(np.float64)
                for share in (0.98, 0.98, 0.93)
            )
            studies.append((old, same, new))
            with noted():
                found = gn.gate(_items(new, codes), _items(old, codes), non_inferior=0.05)
            passed += found.passed
        what = f"{name}, correlation {within}"
        yield _wrong(f"{what}: .93 of .98 passes a margin of .05", passed)
        for peer in (
            _gnomon,
            _cr2,
            *((_evalsig, _evalstats, _statsmodels) if within == 0.3 else ()),
        ):
            part = studies[: N_STUDIES if peer in (_gnomon, _cr2) else N_OF_PEERS]
            began = time.process_time()
            try:
                same = np.array([peer(old, new, codes) for old, new, _ in part])
                lost = np.array([peer(old, new, codes) for old, _, new in part])
            except ModuleNotFoundError as error:
                yield Measurement(f"{what}, {peer.__name__[1:]}", math.nan, "%", note=str(error))
                continue
            seconds = (time.process_time() - began) / (2 * len(part))
            held = np.mean((lost[:, 0] <= -0.05) & (lost[:, 1] >= -0.05))
            yield Measurement(
                f"{what}, .93 against .98, {peer.__name__[1:]}: coverage", 100.0 * float(held), "%",
                note=f"fails {100.0 * np.mean(lost[:, 1] < 0.0):.1f} % of these and "
                f"{100.0 * np.mean(same[:, 1] < 0.0):.1f} % of equal models; {len(part)} studies; "
                f"{1000.0 * seconds:.1f} ms of processor time",
            )  # fmt: skip


def _tasks() -> Iterator[Measurement]:
    """Tables of 8 tasks with 5 runs: equal algorithms, and a true loss of the margin."""
    rng, failed, passed = _rng("tasks"), 0, 0
    for _ in range(N_STUDIES):
        new, old = rng.normal(size=(2, 5, 8))
        with noted():
            failed += not gn.gate({"a": new}, {"b": old}, "mean", regression=True).passed
            passed += gn.gate({"a": new - 0.5}, {"b": old}, "mean", non_inferior=0.5).passed
    yield _wrong("8 tasks, 5 runs, mean: equal algorithms fail", failed)
    yield _wrong("8 tasks, 5 runs, mean: a loss of the margin passes", passed)
