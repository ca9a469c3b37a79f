"""Items: coverage of intervals, error and power of tests, price of looks, time of 20 models.

Coverage of one share is enumerated; the rest is simulated, each cell with its own seed and 400
tables (a standard error of 1.1 points), or as many as ``ITEM_TABLES`` says. Lines give the mean
over cells and the least with its name: of many cells the least is partly luck.
"""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt
from scipy import stats as scipy_stats
from scipy.special import ndtr, ndtri, stdtrit

import gnomon as gn
from benchmarks.record import Measurement
from gnomon.stats import mcnemar, tango, wilson
from gnomon.stats.clusters import Clusters
from gnomon.stats.items import ItemDifferences, ItemMean, paired_differences
from gnomon.stats.proportions import pass_at, pass_hat
from gnomon.stats.sequential import ConfidenceSequence

N_TABLES = int(os.environ.get("ITEM_TABLES", "400"))
SIZES = (20, 50, 100, 300)
LEVEL = 0.95
#: Difficulties of items: shapes of the Beta distribution.
SHAPES = {
    "two-humped": (0.5, 0.5),
    "even": (1.0, 1.0),
    "middling": (2.0, 2.0),
    "hard": (0.3, 3.0),
    "very hard": (0.1, 4.0),
    "easy": (3.0, 0.3),
    "alike": (20.0, 20.0),
}
ACCURACIES = (0.02, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98)

Array = npt.NDArray[np.float64]


def measure() -> Iterator[Measurement]:
    """Give the tables of docs/gnomon/evaluations-statistics.md, and the time of large tables."""
    yield from _shares()
    yield from _pairs()
    yield from _epochs()
    yield from _clusters()
    yield from _ceiling()
    yield from _families()
    yield from _power()
    yield from _looks()
    yield from _large()


def _rng(*what: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(what).encode()))


def _line(what: str, cells: Sequence[tuple[float, str]], least: float, note: str) -> Measurement:
    """Return the mean over cells, with the least, and the largest, of them."""
    shares = [100.0 * share for share, _ in cells]
    low = min(cells)
    text = f"least {100 * low[0]:.1f} ({low[1]}), most {max(shares):.1f}; {note}"
    return Measurement(what, float(np.mean(shares)), "%", least, note=text)


# One share


def _shares() -> Iterator[Measurement]:
    methods: dict[str, Callable[[Array, int], tuple[Array, Array]]] = {
        "Wilson": wilson,
        "Clopper-Pearson": _exact,
        "Student's t": _student,
    }
    for name, interval in methods.items():
        for n in SIZES:
            x = np.arange(n + 1.0)
            low, high = interval(x, n)
            cells = []
            for p in np.arange(0.02, 0.985, 0.005):
                chance = scipy_stats.binom.pmf(x, n, p)
                cells.append((float(chance[(low <= p) & (p <= high)].sum()), f"share {p:.3f}"))
            target = 93.0 if name == "Wilson" else math.nan
            found = _line(f"share of {n} items, {name}", cells, target, "enumerated, .02 to .98")
            yield found if name == "Wilson" else _without_target(found)


def _without_target(one: Measurement) -> Measurement:
    return Measurement(one.name, one.value, one.unit, note=one.note)


def _exact(x: Array, n: int) -> tuple[Array, Array]:
    low, high = scipy_stats.beta.ppf([[0.025], [0.975]], [x, x + 1.0], [n - x + 1.0, n - x])
    return np.where(x == 0.0, 0.0, low), np.where(x == n, 1.0, high)


def _student(x: Array, n: int) -> tuple[Array, Array]:
    p = x / n
    half = scipy_stats.t.ppf(0.975, n - 1) * np.sqrt(p * (1 - p) / (n - 1))
    return p - half, p + half


# Two models, right or wrong


def _populations() -> Iterator[tuple[str, float, float]]:
    """Yield the shares of items that only the first and only the second of two models solves."""
    for p, gap, agree in itertools.product((0.1, 0.3, 0.5, 0.9), (0.0, 0.03, 0.1), (0.0, 0.5, 0.9)):
        if p + gap > 1.0:
            continue
        q = p + gap
        # Between independent models and those that agree wherever they can.
        both = agree * min(p, q) + (1 - agree) * p * q
        yield f"{p:g} and {q:.2g}, agreement {agree:g}", p - both, q - both


def _pairs() -> Iterator[Measurement]:
    for n in SIZES:
        held, width, errors = [], [], []
        for name, only_a, only_b in _populations():
            rng = _rng("pairs", n, name)
            counts = rng.multinomial(n, [only_a, only_b, 1 - only_a - only_b], N_TABLES)
            b, c = counts[:, 0], counts[:, 1]
            ends = np.transpose(tango(b, c, n))
            truth = only_a - only_b
            held.append((_covered(ends, truth), name))
            width.append(np.diff(ends, axis=1).mean())
            if truth == 0.0:
                errors.append((float(np.mean(mcnemar(b, c) <= 0.05)), name))
        note = f"mean width {np.mean(width):.3f}"
        yield _line(f"difference of {n} items, Tango", held, 93.0, note)
        worst = max(errors)
        yield Measurement(
            f"error of McNemar's mid-p, {n} items",
            100.0 * float(np.mean([share for share, _ in errors])),
            "%",
            5.0,
            higher_is_better=False,
            note=f"most {100 * worst[0]:.1f} ({worst[1]})",
        )


def _differences(
    pairs: Iterable[tuple[Array, Array]], scale: str, clusters: Clusters | None = None
) -> ItemDifferences:
    """Return the difference of the two models in each of many tables."""
    pair, scales = np.array([[0, 1]]), np.array([scale] * 2)
    found = [paired_differences(np.array(both), pair, scales, clusters) for both in pairs]
    names = [field.name for field in fields(ItemDifferences)]
    return ItemDifferences(*(np.concatenate([getattr(x, name) for x in found]) for name in names))


def _ends(found: ItemDifferences) -> Array:
    """Return the intervals, shape (tables, 2)."""
    return np.array(found.interval(LEVEL)).T


def _covered(ends: Array, truth: float) -> float:
    """Return the share of intervals that hold the truth, but for rounding."""
    return float(np.mean((ends[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= ends[:, 1])))


# Several epochs of an item


def _epochs() -> Iterator[Measurement]:
    of: dict[str, Callable[[Array, int, int], Array]] = {
        "share over epochs": lambda right, s, _: right / s,
        "pass@k": lambda right, s, k: pass_at(s, right, k),
        "pass^k": lambda right, s, k: pass_hat(s, right, k),
    }
    for n in SIZES:
        for name, value in of.items():
            cells = []
            for shape, (s, k) in itertools.product(SHAPES, ((2, 2), (5, 1), (10, 5))):
                cells.append(_epoch_cell(name, value, shape, n, s, k))
            yield _line(f"{name}, {n} items", cells, 93.0, "effective Wilson")
        cells = [
            _epoch_difference(shape, n, s, gap)
            for shape, s, gap in itertools.product(SHAPES, (2, 5), (0.0, 0.3))
        ]
        yield _line(f"difference over epochs, {n} items", cells, 93.0, "paired t")


def _epoch_cell(
    name: str, value: Callable[[Array, int, int], Array], shape: str, n: int, s: int, k: int
) -> tuple[float, str]:
    rng = _rng(name, shape, n, s, k)
    truth = value(rng.binomial(s, rng.beta(*SHAPES[shape], 400_000)).astype(float), s, k).mean()
    right = rng.binomial(s, rng.beta(*SHAPES[shape], (N_TABLES, n))).astype(float)
    values = value(right, s, k)
    ends = [ItemMean.of(one, "unit", n_samples=n * s).interval(LEVEL) for one in values]
    return _covered(np.array(ends), float(truth)), f"{shape}, {s} epochs, k {k}"


def _epoch_difference(shape: str, n: int, s: int, gap: float) -> tuple[float, str]:
    rng = _rng("difference", shape, n, s, gap)

    def draw(size: tuple[int, int]) -> tuple[Array, Array]:
        p = rng.beta(*SHAPES[shape], size)
        alike = rng.random(size) < 0.7
        q = np.where(alike, p, rng.beta(*SHAPES[shape], size)) ** (1.0 + gap)
        return rng.binomial(s, p) / s, rng.binomial(s, q) / s

    a, b = draw((1, 400_000))
    truth = float((a - b).mean())
    found = _differences(zip(*draw((N_TABLES, n)), strict=True), "unit")
    return _covered(_ends(found), truth), f"{shape}, {s} epochs, gap {gap}"


# Items in clusters


def _cluster_sizes() -> Iterator[tuple[str, int, npt.NDArray[np.int64]]]:
    for g in (5, 10, 20, 50, 200):
        yield "equal", g, np.full(g, 10)
        drawn = np.random.default_rng(g).normal(0.0, 1.0, g)
        yield "lognormal", g, np.maximum(1, np.round(10 * np.exp(drawn - 0.5))).astype(np.int64)
        third, half = np.full(g, 6), np.full(g, 6)
        third[0], half[0] = 3 * (g - 1), 6 * (g - 1)
        yield "a third in one", g, third
        yield "half in one", g, half


def _clusters() -> Iterator[Measurement]:
    for kind, g, sizes in _cluster_sizes():
        clusters = Clusters.numbered(np.repeat(np.arange(g), sizes))
        pairs = [
            _cluster_difference(kind, clusters, correlation, p)
            for correlation, p in itertools.product((0.0, 0.1, 0.3), (0.05, 0.2, 0.5, 0.9))
        ]
        usual = [100.0 * one for _, one, _ in pairs]
        note = f"CR1 with {g - 1} degrees of freedom {np.mean(usual):.1f}, least {min(usual):.1f}"
        cells = [(share, name) for share, _, name in pairs]
        yield _line(f"difference, {g} clusters, {kind}", cells, 93.0, note)
        shares = [
            _cluster_share(kind, clusters, correlation, p)
            for correlation, p in itertools.product((0.0, 0.1, 0.3), ACCURACIES)
        ]
        note = "cluster_wilson, .02 to .98, correlations 0, .1, .3"
        yield _line(f"share, {g} clusters, {kind}", shares, 93.0, note)


def _drawn(rng: np.random.Generator, clusters: Clusters, correlation: float, p: float) -> Array:
    """Return right and wrong items, correlated within clusters, shape (tables, items)."""
    shape = (N_TABLES, len(clusters))
    if correlation > 0.0:
        weight = 1.0 / correlation - 1.0
        chance = rng.beta(p * weight, (1.0 - p) * weight, shape)
    else:
        chance = np.full(shape, p)
    at = chance[:, clusters.codes]
    return (rng.random(at.shape) < at).astype(np.float64)


def _cluster_difference(
    kind: str, clusters: Clusters, correlation: float, p: float
) -> tuple[float, float, str]:
    """Return coverage of our interval and of the usual one, and the name of the cell."""
    rng = _rng("cluster difference", kind, len(clusters), correlation, p)
    q = 0.9 * p
    a, b = (_drawn(rng, clusters, correlation, share) for share in (p, q))
    ends = _ends(_differences(zip(a, b, strict=True), "binary", clusters))
    usual = [_usual_interval(x - y, clusters) for x, y in zip(a, b, strict=True)]
    name = f"correlation {correlation}, {p:g} and {q:.2g}"
    return _covered(ends, p - q), _covered(np.array(usual), p - q), name


def _usual_interval(x: Array, clusters: Clusters) -> tuple[float, float]:
    """Return the interval of CR1, Student's t with one degree of freedom less than clusters."""
    g, value = len(clusters), float(x.mean())
    sums = clusters.sums(x - value)
    error = math.sqrt(g / (g - 1) * float(np.square(sums).sum())) / x.size
    half = float(stdtrit(g - 1, 0.975)) * error
    return value - half, value + half


def _cluster_share(
    kind: str, clusters: Clusters, correlation: float, p: float
) -> tuple[float, str]:
    rng = _rng("cluster share", kind, len(clusters), correlation, p)
    ends = [
        ItemMean.of(x, "binary", clusters).interval(LEVEL)
        for x in _drawn(rng, clusters, correlation, p)
    ]
    return _covered(np.array(ends), p), f"correlation {correlation}, share {p:g}"


# Two models that share the difficulty of items and of clusters, near the ceiling too

#: Shares that the two models solve: equal, then unequal.
SHARES = ((0.5, 0.5), (0.9, 0.9), (0.95, 0.95), (0.98, 0.98), (0.95, 0.90), (0.98, 0.93))


def _ceiling() -> Iterator[Measurement]:
    """Give coverage, error and power on a population that no constant was tuned on."""
    designs: list[tuple[str, str, Clusters | None, int]] = [
        (f"{n} items, {scale}", scale, None, n) for n in (50, 200) for scale in ("binary", "unit")
    ]
    for g in (5, 10, 20, 40, 100):
        for kind, spread in (("equal", 0.0), ("lognormal", 1.0)):
            drawn = np.random.default_rng(g).normal(0.0, spread, g)
            sizes = np.maximum(1, np.round(5 * np.exp(drawn - spread / 2))).astype(np.int64)
            clusters = Clusters.numbered(np.repeat(np.arange(g), sizes))
            designs.append((f"{g} clusters, {kind}", "binary", clusters, int(sizes.sum())))
    for name, scale, clusters, n in designs:
        held = []
        errors: list[float] = []
        power: list[float] = []
        for p, q in SHARES:
            rng = _rng("ceiling", name, p, q)
            pairs, truth = _copula(rng, p, q, scale, clusters, n)
            found = _differences(pairs, scale, clusters)
            held.append((_covered(_ends(found), truth), f"{p:g} and {q:g}"))
            wrong = float(np.mean(found.p_values <= 0.05))
            (errors if p == q else power).append(wrong)
        note = f"error {100 * np.mean(errors):.1f}, most {100 * max(errors):.1f}; "
        note += f"power {100 * np.mean(power):.0f}"
        yield _line(f"near the ceiling, {name}", held, 93.0, note)


def _copula(
    rng: np.random.Generator, p: float, q: float, scale: str, clusters: Clusters | None, n: int
) -> tuple[list[tuple[Array, Array]], float]:
    """Return tables of both models' scores, by a normal copula, and the true difference."""
    within = 0.0 if clusters is None else 0.3
    codes = np.zeros(n, np.int64) if clusters is None else clusters.codes
    g = 1 if clusters is None else len(clusters)

    def latent() -> Array:
        of_clusters = rng.normal(size=(N_TABLES, g))[:, codes]
        return math.sqrt(within) * of_clusters + math.sqrt(1 - within) * rng.normal(
            size=(N_TABLES, n)
        )

    shared = latent()
    x, y = ((shared + latent()) / math.sqrt(2.0) for _ in "ab")
    if scale == "binary":
        a, b = ((z < ndtri(share)).astype(np.float64) for z, share in ((x, p), (y, q)))
        return list(zip(a, b, strict=True)), p - q
    # Graded in fifths: an even score to the power (1 - share) / share has that mean.
    a, b = (np.round(5 * ndtr(z) ** ((1 - share) / share)) / 5 for z, share in ((x, p), (y, q)))
    even = (np.arange(100_000) + 0.5) / 100_000
    means = [float((np.round(5 * even ** ((1 - share) / share)) / 5).mean()) for share in (p, q)]
    return list(zip(a, b, strict=True)), means[0] - means[1]


# Many models, power, looks


def _table(chance: Array, rng: np.random.Generator, n_epochs: int = 1) -> gn.ScoreTable:
    """Return models that solve items with these chances, shape (models, items)."""
    right = rng.random((len(chance), n_epochs, chance.shape[1])) < chance[:, None, :]
    scores = {f"m{i}": row.astype(np.float64) for i, row in enumerate(right)}
    return gn.ScoreTable.from_arrays(scores, units="items")


def _families() -> Iterator[Measurement]:
    for n in (50, 300):
        wrong = 0
        n_tables = max(N_TABLES // 2, 2)
        for seed in range(n_tables):
            rng = _rng("family", n, seed)
            table = _table(np.tile(rng.beta(1, 1, n), (8, 1)), rng)
            wrong += any(one.p_adjusted <= 0.05 for one in gn.compare(table))
        yield Measurement(
            f"familywise error, 8 equal models, {n} items, holm",
            100.0 * wrong / n_tables, "%", 6.0, higher_is_better=False,
            note=f"{n_tables} tables, 28 pairs; target 5 within the simulation's error",
        )  # fmt: skip


def _power() -> Iterator[Measurement]:
    for n in (100, 500):
        rng = _rng("power", n)
        pilot = rng.beta(1, 1, n)
        told = gn.compare(_table(np.array([pilot, pilot]), rng), "m0", "m1")[0].detectable
        found = 0
        for _ in range(N_TABLES):
            p = rng.beta(1, 1, n)
            # Where the first model is better by what can be told, it is so on all items alike.
            table = _table(np.array([p * (1 - told) + told, p * (1 - told)]), rng)
            found += gn.compare(table, "m0", "m1")[0].p_value <= 0.05
        yield Measurement(
            f"power at the smallest difference that {n} items tell", 100 * found / N_TABLES, "%",
            note=f"{told:.3f} by a pilot without difference; 80 is meant",
        )  # fmt: skip


def _looks() -> Iterator[Measurement]:
    values = np.array([1.0, -1.0, 0.0])
    for name, discordant in (("a tenth", 0.1), ("half", 0.5)):
        rng = _rng("looks", name)
        chances = np.array([discordant / 2, discordant / 2, 1 - discordant])
        wrong = 0
        for _ in range(N_TABLES):
            x = rng.choice(values, 3_000, p=chances)
            wrong += ConfidenceSequence(x, np.ones(x.size)).first_beyond(20.0) is not None
        yield Measurement(
            f"error of looks after each of 3,000 items, {name} discordant",
            100.0 * wrong / N_TABLES, "%", 6.0, higher_is_better=False,
            note="5 at most is promised, the rest is the simulation's error",
        )  # fmt: skip
    for difference, discordant in ((0.1, 0.3), (0.03, 0.15), (0.2, 0.5), (0.02, 0.04)):
        rng = _rng("price", difference, discordant)
        fixed = math.ceil((1.96 + 0.8416) ** 2 * (discordant - difference**2) / difference**2)
        chances = np.array([(discordant + difference) / 2, (discordant - difference) / 2, 0.0])
        chances[2] = 1.0 - chances.sum()
        stopped = []
        for _ in range(N_TABLES):
            x = rng.choice(values, 5 * fixed, p=chances)
            stopped.append(ConfidenceSequence(x, np.ones(x.size)).first_beyond(20.0) or x.size)
        found = np.array(stopped)
        yield Measurement(
            f"items until bets refute, over {fixed} of a fixed size, {difference:g} of "
            f"{discordant:g} discordant",
            float(found.mean() / fixed), "",
            note=f"{100 * np.mean(found <= fixed):.0f} % stop by then, where power is 80 %; "
            f"median {np.median(found) / fixed:.2f}",
        )  # fmt: skip


#: Prints, of a process of its own, the time of the table and of a verb, warm, and its most memory.
LARGE = """
import sys, time
import numpy as np
import gnomon as gn
verb, cluster = getattr(gn, sys.argv[1]), sys.argv[2] or None
rng, n = np.random.default_rng(1), 100_000
chance = rng.random(n)
scores = {f"model {i}": [rng.random(n) < chance * (1 - i / 100)] for i in range(20)}
verb(gn.ScoreTable.from_arrays({"a": [[1, 0]], "b": [[0, 1]]}, units="items"))
began = time.process_time()
rows = gn.ScoreTable.from_arrays(scores, units="items").rows
built = time.process_time() - began
rows = rows.with_columns({"topic": np.tile(np.arange(n) // 20, 20)})
table = gn.ScoreTable(rows, units="items", cluster=cluster)
began = time.process_time()
n_records = len(verb(table))
took = time.process_time() - began
peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
print(built, took, n_records, int(peak) / 1e3)
"""


def _large() -> Iterator[Measurement]:
    """Time verbs on 20 models and 100,000 items, each in a process of its own, and its memory."""
    note = "processor time, warm"
    for name, verb, cluster, most in (
        ("compare, independent", "compare", "", 0.15),
        ("compare, 5,000 clusters", "compare", "topic", 0.15),
        ("estimate, 5,000 clusters", "estimate", "topic", 1.0),
        ("rank", "rank", "", 0.3),
    ):
        command = [sys.executable, "-c", LARGE, verb, cluster]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        built, took, n_records, peak = map(float, said.split())
        if name == "compare, independent":
            yield Measurement("table of 2,000,000 scores", built, "s", note=note)
        yield Measurement(
            f"{name}, 20 models, 100,000 items", took, "s", most,
            higher_is_better=False, note=f"{n_records:.0f} records, {note}",
        )  # fmt: skip
        yield Measurement(
            "- most memory of the process", peak, "MB", 150.0,
            higher_is_better=False, note="arrays and table included",
        )  # fmt: skip
