"""Fewer items: lists and estimates on one protocol, intervals, sizes, stopping, time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.prototypes import beside
from benchmarks.record import Measurement
from gnomon.distill import FactorProcedure, atari, choose_items, item_sizes
from gnomon.distill.items.answers import item_matrix
from gnomon.distill.items.held_out import held_items, measured
from gnomon.scores import ScoreTable, read_scores
from gnomon.scores.table import FloatArray

_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
_LISTED = "stratified, p-IRT"


def measure() -> Iterator[Measurement]:
    """Measure made-up tables, the real ones that there are, and the time of a large one."""
    if "GNOMON_DATA" not in os.environ and (_DATA / "atari5").is_dir():
        os.environ["GNOMON_DATA"] = str(_DATA.resolve())
    for kind in ("one ability", "six subjects"):
        for n in (40, 200):
            table = table_of(answers(kind, n, 1000, seed=0))
            yield from _methods(f"{kind}, {n} models, 30 of 1,000", table, 30)
    yield from beside(_many_models())
    yield from _real()
    yield from _better_models()
    yield from _few_models()
    yield from _stopping()
    yield from _few_algorithms()
    yield from _time()


def answers(kind: str, n: int, n_items: int, *, seed: int, progress: float = 0.0) -> FloatArray:
    """Return made-up answers of models, shape (models, items).

    ``one ability``: two-parameter logistic. ``six subjects``: abilities that correlate at 0.7,
    guessing at a quarter on most items, families of five with shared quirks, 3 % mislabelled;
    the last model is better than the first by `progress`, in standard deviations, on average.
    """
    rng = np.random.default_rng(seed)
    slope, level = np.exp(rng.normal(0, 0.5, n_items)), rng.normal(0, 1.5, n_items)
    if kind == "one ability":
        u = slope * rng.normal(size=(n, 1)) + level
        return (rng.random(u.shape) < 1 / (1 + np.exp(-u))).astype(float)
    ability = 0.85 * rng.normal(size=(n, 1)) + 0.53 * rng.normal(size=(n, 6))
    ability += np.linspace(0, progress, n)[:, np.newaxis]
    subject, family = np.sort(rng.integers(0, 6, n_items)), rng.integers(0, max(n // 5, 1), n)
    quirks = 0.6 * rng.normal(size=(max(n // 5, 1), n_items))
    p = 1 / (1 + np.exp(-(slope * ability[:, subject] + level + quirks[family])))
    guessing = np.where(rng.random(n_items) < 0.6, 0.25, 0.0)
    p = guessing + (1 - guessing) * p
    p = np.where(rng.random(n_items) < 0.03, 1 - p, p)
    return (rng.random(p.shape) < p).astype(float)


def table_of(x: FloatArray) -> ScoreTable:
    """Return answers as a table of items."""
    return ScoreTable.from_arrays({f"m{i:03}": [row] for i, row in enumerate(x)}, units="items")


def _methods(name: str, table: ScoreTable, n_items: int) -> Iterator[Measurement]:
    for one in choose_items(table, n_items):
        words = "better" if one.protocol == "better" else "folds"
        note = f"bias {one.bias:+.1f}; cover {one.coverage:.2f}, half width {one.half_width:.1f}"
        yield Measurement(f"{name}: {one.method}, {words}", one.error, "points", note=note)


def _many_models() -> Iterator[Measurement]:
    """Yield the errors on 80 models, learned from 400, by the number of items of 1,000."""
    tables = {
        "six subjects": ("six subjects", 0.0),
        "its newest": ("six subjects", 2.0),
        "one ability": ("one ability", 0.0),
    }
    errors: dict[str, dict[str, list[float]]] = {}
    for name, (kind, progress) in tables.items():
        for n in (10, 30, 100, 300):
            found: dict[str, list[float]] = {}
            for seed in range(2):
                x = answers(kind, 480, 1000, seed=seed, progress=progress)
                split = [(np.arange(400), np.arange(400, 480))]
                for method, held in held_items(x, n, split, np.random.default_rng(0)).items():
                    found.setdefault(method, []).append(100 * np.abs(held.off).mean())
            for method, off in found.items():
                errors.setdefault(method, {}).setdefault(name, []).append(float(np.mean(off)))
    for method, by_table in errors.items():
        each = [f"{name} {' '.join(f'{e:.1f}' for e in by)}" for name, by in by_table.items()]
        note = f"10, 30, 100, 300 items: {'; '.join(each)}"
        value = by_table["six subjects"][1]
        yield Measurement(f"400 models, 30 of 1,000: {method}", value, "points", note=note)


def _real() -> Iterator[Measurement]:
    judged = _judged()
    if judged is not None:
        yield from _methods("alpaca, 26 models, 50 of 805", judged, 50)
        found = item_sizes(judged, 0.05)
        for one in found:
            note = f"pairs that differ by 5 to 7.5: {one.power:.2f} told, {one.wrong:.2f} wrongly"
            yield Measurement(
                f"alpaca, gap that {one.n_items} items tell", one.detectable, "points", note=note
            )
    human = _above(100)
    if human is not None:
        yield from _methods("Atari above human, 62 agents, 10 of 57", human, 10)


def _judged() -> ScoreTable | None:
    """Return the graded answers of AlpacaEval 2, if they are there."""
    path = Path(os.environ.get("GNOMON_DATA", "")) / "evals" / "alpaca_eval2_items.csv"
    return read_scores(path, units="items") if path.is_file() else None


def _above(percent: float) -> ScoreTable | None:
    """Return whether each published agent is above so many percent of human on each game."""
    folder = Path(os.environ.get("GNOMON_DATA", "")) / "atari5"
    if not folder.is_dir():
        return None
    human = pl.read_csv(folder / "dataset.csv").select(
        pl.col("Algorithm").alias("algorithm"),
        pl.col("Game").alias("task"),
        pl.lit(0).alias("run"),
        (pl.col("Normalized") > percent).cast(pl.Float64).alias("score"),
    )
    cells = human.group_by("algorithm", "task", "run", maintain_order=True).mean()
    return ScoreTable.from_frame(cells, units="items")


def _better_models() -> Iterator[Measurement]:
    """Yield the cover of the best half, third and fifth, each predicted from the rest alone."""
    kinds = ("one ability", "six subjects")
    tables = {
        f"{kind}, {n} models, 20 of 300": [
            (answers(kind, n, 300, seed=seed), 20) for seed in range(3)
        ]
        for kind in kinds
        for n in (26, 40, 62, 120, 200)
    }
    judged = _judged()
    if judged is not None:
        x = item_matrix(judged)[2]
        tables["alpaca, 20, 50 and 100 of 805"] = [(x, n) for n in (20, 50, 100)]
    for percent in (50, 100, 200):
        human = _above(percent)
        if human is not None:
            x = item_matrix(human)[2]
            tables[f"Atari above {percent} % of human, 10 and 20 of 57"] = [
                (x, n) for n in (10, 20)
            ]
    for name, cells in tables.items():
        for words, share in (("half", 1 / 2), ("third", 2 / 3), ("fifth", 4 / 5)):
            for method in (_LISTED, "adaptive, p-IRT"):
                yield _of_cut(f"{name}: {method}, best {words}", cells, share, method)


def _of_cut(
    name: str, cells: list[tuple[FloatArray, int]], share: float, method: str
) -> Measurement:
    inside, halves, free, n_predicted = [], [], [], 0
    for x, n in cells:
        order = np.argsort(np.nanmean(x, axis=1), kind="stable")
        kept, held = np.split(order, [round(share * len(x))])
        rng = np.random.default_rng(0)
        scales = measured(x[kept], n, 5, rng, [method]).scales[method]
        found = held_items(x, n, [(kept, held)], rng, [method])[method]
        low, high = found.intervals(scales)
        given = ~np.isnan(low)
        n_predicted += given.size
        inside += ((low <= found.truth) & (found.truth <= high))[given].tolist()
        halves += (50 * (high - low))[given].tolist()
        free += (high == 1.0)[given].tolist()
    if len(inside) < n_predicted / 2:
        note = f"no interval: {len(kept)} train, {n_predicted} predicted"
        return Measurement(f"{name}: cover of 90 %", float("nan"), "", note=note)
    note = f"half width {np.mean(halves):.0f}, {np.mean(free):.0%} lower bounds alone, "
    note += f"{len(kept)} train, {len(inside)} of {n_predicted} predicted have an interval"
    wanted = 0.85 if len(kept) >= 30 else None
    return Measurement(f"{name}: cover of 90 %", float(np.mean(inside)), "", wanted, True, note)


def _few_models() -> Iterator[Measurement]:
    """Yield the error of 100 of 1,000 items by the number of training models."""
    for kind in ("one ability", "six subjects"):
        for n in (6, 12, 20, 50, 200):
            off = []
            for seed in range(3):
                x = answers(kind, n + 100, 1000, seed=seed)
                split = [(np.arange(n), np.arange(n, n + 100))]
                held = held_items(x, 100, split, np.random.default_rng(0), [_LISTED])
                off.append(100 * np.abs(held[_LISTED].off).mean())
            name = f"{kind}: {_LISTED} from {n} models"
            yield Measurement(name, float(np.mean(off)), "points", note="seeds 0 to 2")


def _stopping() -> Iterator[Measurement]:
    """Yield what becomes of models that are asked until their interval is narrow."""
    for kind in ("one ability", "six subjects"):
        x = answers(kind, 150, 600, seed=1)
        model = choose_items(table_of(x[:120]), 50).model
        # The items of a model stand in the order of their names.
        x = x[:, [int(item.removeprefix("task_")) for item in model.items]]
        truth = x[120:].mean(axis=1)
        for target in (0.05,):
            asked, off, inside = [], [], []
            for row, share in zip(x[120:], truth, strict=True):
                items = model.response.adaptive(row, 300)[0]
                for n in range(10, 300, 5):
                    now = model.estimate({model.items[j]: row[j] for j in items[:n]})
                    if now.high - now.low <= 2 * target:
                        break
                asked.append(n)
                off.append(100 * abs(now.value - share))
                inside.append(now.low <= share <= now.high)
            note = f"{np.mean(asked):.0f} items on average; error {np.mean(off):.1f} points"
            name = f"{kind}: asked until half width {target:g}: cover of 90 %"
            yield Measurement(name, float(np.mean(inside)), "", note=note)


def _few_algorithms() -> Iterator[Measurement]:
    """Yield the error of five Atari games by the number of algorithms that choose them."""
    data, procedure = atari.paper_scores(), FactorProcedure()
    for n in (6, 8, 10, 20, 40, 55):
        errors = []
        for seed in range(8):
            order = np.random.default_rng(seed).permutation(len(data.algorithms))
            kept = np.isin(np.arange(len(order)), order[:n])
            train, new = data.rows(kept), data.rows(~kept)
            tasks = procedure.choose(train, 5)[0]
            said = procedure.fit(train, tasks).predict(new.x[:, new.columns(tasks)])
            errors.append(float(np.nanmean(np.abs(said - new.target)) * np.log(10)))
        name = f"five Atari games chosen by {n} algorithms, error on the others"
        yield Measurement(name, 100 * float(np.mean(errors)), "%", note="seeds 0 to 7")


def _time() -> Iterator[Measurement]:
    table = table_of(answers("one ability", 500, 20_000, seed=0))
    for words, compare in (("the list", False), ("with all methods and intervals", True)):
        began = time.process_time()
        choose_items(table, 100, compare=compare)
        seconds = time.process_time() - began
        name = f"100 of 20,000 items by 500 models, {words}"
        yield Measurement(name, seconds, "s", 120.0, False, "processor time, one thread of BLAS")
