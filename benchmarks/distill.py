"""Distillation: speed of the search, nested errors, and intervals beyond the training."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.record import Measurement
from gnomon.distillation import (
    FactorProcedure,
    PaperProcedure,
    atari,
    distill,
    nested_error,
    search_subsets,
)
from gnomon.distillation.preparation import PreparedScores, transform_of
from gnomon.distillation.validation import HeldOut

_DATA = Path(__file__).parents[1] / ".." / "shared" / "data"
_OURS = FactorProcedure()


def measure() -> Iterator[Measurement]:
    """Measure speed, agreement with scikit-learn, errors, and coverage of intervals."""
    if "GNOMON_DATA" not in os.environ and (_DATA / "atari5").is_dir():
        os.environ["GNOMON_DATA"] = str(_DATA.resolve())
    data = atari.paper_scores()
    yield from _search(data)
    yield from _whole_process()
    yield from _errors(data)
    yield from _cuts(data)
    yield from _few_algorithms(data)
    yield from _dated_suites()
    yield from _new_families()
    yield from _large_tables()


def _search(data: PreparedScores) -> Iterator[Measurement]:
    seconds = []
    for _ in range(5):
        began = time.process_time()
        found = search_subsets(data, 5)
        seconds.append(time.process_time() - began)
    name = "best 20 of all 3,819,816 five-game subsets by cross-validated error"
    yield Measurement(name, min(seconds), "s", 1.3, False, "processor time, least of five")
    theirs = np.array([_by_scikit_learn(data, tasks) for tasks in found.subsets])
    worst = float(np.abs(found.errors / theirs - 1).max())
    yield Measurement("largest relative difference to scikit-learn", worst, "", 1e-10, False)
    sample = list(combinations(data.candidates[:12], 5))[:40]
    began = time.process_time()
    for tasks in sample:
        _by_scikit_learn(data, tasks)
    slow = (time.process_time() - began) / len(sample) * 3_819_816
    yield Measurement("all by scikit-learn", slow, "s", note="extrapolated from 40 subsets")


def _by_scikit_learn(data: PreparedScores, tasks: tuple[str, ...]) -> float:
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import KFold

    x = data.x[:, data.columns(tasks)]
    whole = ~np.isnan(x).any(axis=1)
    x, y = x[whole], data.target[whole]
    model = LinearRegression(fit_intercept=False)
    errors = []
    for kept, held in KFold(10, shuffle=True, random_state=1982).split(x):
        predicted = model.fit(x[kept], y[kept]).predict(x[held])
        errors.append(np.mean((y[held] - predicted) ** 2))
    return float(np.mean(errors))


def _whole_process() -> Iterator[Measurement]:
    command = [sys.executable, "-m", "gnomon", "distill", "atari5"]
    seconds = min(_child_seconds(command) for _ in range(3))
    note = "processor time, all validations"
    yield Measurement("gnomon distill atari5, whole process", seconds, "s", 3.0, False, note)
    seconds = _child_seconds([*command, "--procedure", "paper"])
    yield Measurement("the same by the paper's procedure", seconds, "s", note="11 searches")


def _child_seconds(command: list[str]) -> float:
    """Return the processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _errors(data: PreparedScores) -> Iterator[Measurement]:
    for procedure, most in ((_OURS, 13.5), (PaperProcedure(), None)):
        for outer in ("folds", "groups", "time"):
            rng = np.random.default_rng(0)
            held = nested_error(data, procedure, 5, outer=outer, spread=True, rng=rng)
            note = f"{held.n_predicted} algorithms, {held.concordance:.1%} of pairs in order"
            limit = 15.6 if most and outer == "time" else most
            name = f"nested error, {procedure.name}, {outer}"
            yield Measurement(name, 100 * held.relative_error, "%", limit, False, note)
            if held.known:
                yield _cover(f"90 % intervals, {outer}: coverage", held, held.scale)


def _cover(name: str, held: HeldOut, scale: float) -> Measurement:
    half = 100 * np.log(10) * held.half_width(scale=scale)
    note = (
        f"{held.n_predicted} algorithms, error {held.relative_error:.0%}, half width {half:.0f} %"
    )
    return Measurement(name, held.coverage(scale=scale), "", 0.85, True, note)


def _cuts(data: PreparedScores) -> Iterator[Measurement]:
    """Yield the coverage of what follows a year, or exceeds a level, from the rest alone."""
    assert data.years is not None
    level = data.transform.inverse(data.target)
    cuts = {f"after {year}": data.years > year for year in (2015, 2016, 2017, 2018, 2019)}
    cuts |= {f"above {most}": level > most for most in (150, 200, 300, 600)}
    for name, later in cuts.items():
        marked = replace(data, years=np.where(later, 2.0, 1.0))
        rng = np.random.default_rng(0)
        held = nested_error(marked, _OURS, 5, outer="time", spread=True, rng=rng)
        scale = distill(data.rows(~later)).model.scale
        yield _cover(f"90 % intervals, {name}: coverage", held, scale)


def _few_algorithms(data: PreparedScores) -> Iterator[Measurement]:
    """Yield the error on the other algorithms of games that a few chose."""
    for n in (6, 20, 55):
        errors = []
        for seed in range(40):
            chosen = np.random.default_rng(seed).choice(len(data.algorithms), n, replace=False)
            train, others = data.rows(chosen), data.rows(np.delete(np.arange(62), chosen))
            model = _OURS.fit(train, _OURS.choose(train, 5))
            predicted = model.predict(others.x[:, others.columns(model.tasks)])
            error = data.transform.relative_errors(predicted, others.target)
            errors.append(100 * float(np.mean(np.abs(error))))
        note = f"40 draws, standard error {np.std(errors, ddof=1) / 40**0.5:.1f}"
        name = f"error on the others of five games chosen on {n} of 62 algorithms"
        yield Measurement(name, float(np.mean(errors)), "%", note=note)


def _dated_suites() -> Iterator[Measurement]:
    """Yield the coverage in time on made-up suites; the worst kind."""
    covers: dict[str, list[float]] = {}
    for n_factors, ceiling in ((1, False), (1, True), (2, False), (2, True)):
        for seed in range(3):
            data = _suite(n_factors, ceiling=ceiling, seed=seed)
            rng = np.random.default_rng(seed)
            scale = nested_error(data, _OURS, 5, spread=True, rng=rng).scale
            later = nested_error(data, _OURS, 5, outer="time", spread=True, rng=rng)
            kind = f"{n_factors} factors{', ceilings' if ceiling else ''}"
            covers.setdefault(kind, []).append(later.coverage(scale=scale))
    yield _worst("made-up suites, each year from those before: coverage", covers)


def _new_families() -> Iterator[Measurement]:
    """Yield the coverage for algorithms of new families, from few known ones; the worst kind."""
    for n_families, each in ((8, 1), (20, 1), (6, 10), (20, 2)):
        covers: dict[str, list[float]] = {}
        for n_factors, ceiling in ((1, False), (1, True), (2, False), (2, True)):
            for seed in range(5):
                family = np.r_[np.repeat(np.arange(n_families), each), n_families + np.arange(100)]
                data = _families(family, n_factors, ceiling=ceiling, seed=seed)
                train, new = data.rows(family < n_families), data.rows(family >= n_families)
                model = distill(train, folds=min(10, len(train.algorithms))).model
                inside = []
                for x, y in zip(new.x[:, new.columns(model.tasks)], new.target, strict=True):
                    told = model.forecast(dict(zip(model.tasks, x, strict=True)))
                    low, high = told.interval(0.9, model.scale)
                    inside.append(low <= y <= high)
                kind = f"{n_factors} factors{', ceilings' if ceiling else ''}"
                covers.setdefault(kind, []).append(float(np.mean(inside)))
        yield _worst(f"from {n_families} families of {each}: coverage", covers)


def _worst(name: str, covers: dict[str, list[float]]) -> Measurement:
    means = {kind: float(np.mean(values)) for kind, values in covers.items()}
    worst = min(means, key=lambda kind: means[kind])
    unsure = np.std(covers[worst], ddof=1) / len(covers[worst]) ** 0.5
    note = f"worst of {len(means)} kinds: {worst}, standard error {unsure:.3f}"
    return Measurement(name, means[worst], "", 0.85, True, note)


def _families(family: np.ndarray, n_factors: int, *, ceiling: bool, seed: int) -> PreparedScores:
    """Return a made-up suite whose families have a level and a profile of their own."""
    rng = np.random.default_rng(1000 * seed + 7)
    n, n_families, alike = len(family), family.max() + 1, 0.3 + 0.3 * (seed % 2)
    skill = rng.normal(0, 0.4, (n, n_factors))
    skill += rng.normal(0, alike, (n_families, n_factors))[family]
    profile = rng.normal(0, alike / 2, (n_families, 40))[family]
    loads = rng.uniform(0.3, 1.0, (n_factors, 40))
    x = 2.0 + skill @ loads / n_factors**0.5 + profile + rng.normal(0, 0.3, (n, 40))
    return _prepared(x, family, ceiling=ceiling)


def _suite(n_factors: int, *, ceiling: bool, seed: int, n: int = 50) -> PreparedScores:
    """Return a made-up suite with families and a trend of ten years."""
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(2010, 2020, n)).astype(float)
    family = rng.integers(0, 15, n)
    skill = rng.normal(0, 0.4, (n, n_factors)) + 0.08 * (year - 2010)[:, np.newaxis]
    skill += rng.normal(0, 0.3, (15, n_factors))[family]
    loads = rng.uniform(0.3, 1.0, (n_factors, 40))
    x = 2.0 + skill @ loads / n_factors**0.5 + rng.normal(0, 0.3, (n, 40))
    return replace(_prepared(x, family, ceiling=ceiling), years=year)


def _prepared(x: np.ndarray, family: np.ndarray, *, ceiling: bool) -> PreparedScores:
    if ceiling:
        x[:, :12] = np.minimum(x[:, :12], 2.6)
    names, tasks = tuple(f"a{i:03}" for i in range(len(x))), tuple(f"t{j:02}" for j in range(40))
    y, groups = np.median(x, axis=1), tuple(f"f{g}" for g in family)
    return PreparedScores(names, tasks, x, y, y, tasks, groups, transform_of("identity"))


def _large_tables() -> Iterator[Measurement]:
    for n, n_tasks, gaps in ((500, 120, 0.0), (500, 60, 0.1), (5000, 60, 0.0)):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(n, 1)) * rng.uniform(0.3, 1, n_tasks)
        x += rng.normal(size=(n, n_tasks)) * 0.6
        y = np.median(x, axis=1)
        x[rng.random(x.shape) < gaps] = np.nan
        tasks = tuple(f"t{j:03}" for j in range(n_tasks))
        names = tuple(f"a{i:04}" for i in range(n))
        data = PreparedScores(names, tasks, x, y, y, tasks, names, transform_of("identity"))
        began = time.process_time()
        found = search_subsets(data, 4)
        seconds = time.process_time() - began
        name = f"{n} algorithms x {n_tasks} tasks, size 4, {gaps:.0%} missing"
        yield Measurement(name, seconds, "s", 60.0, False, f"{found.n_subsets:,} subsets")
