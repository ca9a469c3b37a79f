"""Distillation beyond its training: errors and intervals by protocol, pairs, gaps, costs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.record import Measurement
from gnomon.distill import (
    FactorProcedure,
    HeldOut,
    PreparedScores,
    SubsetModel,
    baselines,
    nested_error,
    prepare,
    transform_of,
)
from gnomon.distill.atari import published_models
from gnomon.distill.comparison import reliability_of
from gnomon.distill.forecasts.completion import completed_targets
from gnomon.distill.procedures.goals import BudgetProcedure
from gnomon.distill.validation.cross_validation import Mask, nested_splits
from gnomon.scores import load_scores
from gnomon.scores.datasets import load_references
from gnomon.scores.table import FloatArray, ScoreTable

_OURS = FactorProcedure()
#: Algorithms with lower medians are not in the training.
_LEAST = 40
#: Greatest error (in %) and least cover that were asked for, by protocol.
_WANTED = {"10": (10.9, None), "next": (15.5, 0.85)}


def measure(data: PreparedScores) -> Iterator[Measurement]:
    """Measure all tables on the published Atari scores, and synthetic suites."""
    held = dict(_protocols(data))
    for name, one in held.items():
        yield from _told(name, one, *_WANTED.get(name, (None, None)))
    yield from _cuts(data)
    yield from _synthetic()
    yield from _own_results()
    yield from _other_suites(data)
    yield from _single_runs(data)
    yield from _published(data)
    for name, most in (("10", 0.05), ("third", 0.055)):
        found = reliability_of(held[name], scale=held[name].scale)
        note = f"order alone {found.sign_brier:.3f}; {found.right:.1%} right"
        yield Measurement(f"pairs, {name}: Brier score", found.brier, "", most, False, note)
    yield from _sparse(data)
    yield from _costs(data)
    yield from _baselines(data)


def _protocols(data: PreparedScores) -> Iterator[tuple[str, HeldOut]]:
    protocols = {"10": ("folds", 10, 3), "paper": ("groups", 1, 1), "third": ("group-folds", 3, 10)}
    protocols["next"] = ("time", 1, 1)
    for name, (outer, n_folds, n_repeats) in protocols.items():
        rng = np.random.default_rng(100)
        options = {"n_folds": n_folds, "n_repeats": n_repeats, "rng": rng, "spread": True}
        yield name, nested_error(data, _OURS, 5, outer=outer, **options)


def _told(
    name: str, held: HeldOut, most: float | None, least: float | None
) -> Iterator[Measurement]:
    """Yield error and cover of one protocol; K = 1, which only widens."""
    bias = 100 * float(np.nanmean(held.relative))
    note = f"bias {bias:+.0f} %, {held.n_predicted} algorithms"
    yield Measurement(f"{name}: error", 100 * held.relative_error, "%", most, False, note)
    half = 100 * np.log(10) * held.half_width()
    note = f"median half width {half:.0f} %; 95 %: {held.coverage(0.95):.2f}"
    yield Measurement(f"{name}: cover of 90 %", held.coverage(), "", least, True, note)


def _cuts(data: PreparedScores) -> Iterator[Measurement]:
    """Yield what follows a year, or lies above a level, predicted from the rest alone."""
    years = data.years
    assert years is not None
    level = data.transform.inverse(data.target)
    cuts = {f"later {y}": years > y for y in (2015, 2016, 2017, 2018, 2019)}
    cuts |= {f"below {m}": level > m for m in (150, 200, 300, 600)}
    for name, held in cuts.items():
        marked = replace(data, years=np.where(held, 2.0, 1.0))
        found = nested_error(
            marked, _OURS, 5, outer="time", spread=True, rng=np.random.default_rng(0)
        )
        yield from _told(name, found, None, 0.85)


def _synthetic() -> Iterator[Measurement]:
    """Yield the cover on suites that the constants have not seen; the worst has the target."""
    covers, later = {}, {}
    for n_factors in (1, 2):
        for ceiling in (False, True):
            for seed in range(3):
                data = _suite(n_factors, ceiling=ceiling, seed=seed)
                rng = np.random.default_rng(seed)
                inside = nested_error(data, _OURS, 5, spread=True, rng=rng)
                time_ordered = nested_error(data, _OURS, 5, outer="time", spread=True, rng=rng)
                kind = f"{n_factors} factors{', ceilings' if ceiling else ''}"
                covers.setdefault(kind, []).append(inside.coverage(scale=inside.scale))
                later.setdefault(kind, []).append(time_ordered.coverage(scale=inside.scale))
    for where, found in (("inside", covers), ("next year", later)):
        means = {kind: float(np.mean(values)) for kind, values in found.items()}
        worst = min(means, key=lambda kind: means[kind])
        note = f"worst of {len(means)} kinds: {worst}; 50 x 40, three tables each"
        yield Measurement(f"synthetic suites, {where}: cover", means[worst], "", 0.8, True, note)


def _own_results() -> Iterator[Measurement]:
    """Yield the cover on this project's own results, without a transform and with one."""
    for transform in ("identity", "log"):
        data = prepare(load_scores("gohr-full"), transform=transform)
        held = nested_error(data, _OURS, 5, spread=True, rng=np.random.default_rng(0))
        note = f"R2 {held.r2:.3f}, scale {held.scale:.2f}, {held.n_predicted} learners"
        cover = held.coverage(scale=held.scale)
        yield Measurement(f"gohr-full, {transform}: cover", cover, "", 0.8, True, note)


def _other_suites(data: PreparedScores) -> Iterator[Measurement]:
    """Yield error and cover on suites of other sources, the whole choice inside."""
    folder = Path(os.environ["GNOMON_DATA"]) / "scores"
    if not folder.is_dir():
        return
    runs = [{task: x.mean() for task, x in one.items()} for one in _further_runs(folder, data)]
    rows = enumerate([*runs, *_further_means(folder, data)])
    cells = [(f"a{i:02}", task, 0, x) for i, one in rows for task, x in one.items()]
    names = ["algorithm", "task", "run", "score"]
    further = ScoreTable.from_frame(pl.DataFrame(cells, schema=names, orient="row"))
    suites = {"further algorithms, folds": (prepare(further), "folds")}
    agents = prepare(_checkpoints(folder, data), group_by="agent")
    suites["six agents at ten checkpoints, folds"] = agents, "folds"
    suites["six agents at ten checkpoints, an agent left out"] = agents, "groups"
    for name, (suite, outer) in suites.items():
        held = nested_error(suite, _OURS, 5, outer=outer, spread=True, rng=_rng(0))
        cover, half = held.coverage(scale=held.scale), held.half_width(scale=held.scale)
        note = f"error {held.relative_error:.1%}, half width {100 * np.log(10) * half:.0f} %, "
        note += f"{held.n_predicted} rows, scale {held.scale:.2f}"
        yield Measurement(f"{name}: cover", cover, "", 0.8, True, note)


def _checkpoints(folder: Path, data: PreparedScores) -> ScoreTable:
    """Return the normalised mean scores of Dopamine's agents at each checkpoint, as algorithms."""
    table = pl.read_csv(folder / "dopamine_atari_legacy_curves.csv")
    game = pl.col("task").str.to_lowercase().str.replace_all("[^a-z]", "")
    ends = pl.DataFrame(
        [(name, *pair) for name, pair in load_references("atari5").items() if name in data.tasks],
        schema=["game", "low", "high"],
        orient="row",
    )
    return ScoreTable.from_frame(
        table.with_columns(game=game)
        .join(ends, on="game")
        .group_by("algorithm", "million_frames", "game", "low", "high", maintain_order=True)
        .agg(pl.col("score").mean())
        .select(
            pl.concat_str("algorithm", pl.col("million_frames"), separator=" ").alias("algorithm"),
            pl.col("game").alias("task"),
            pl.lit(0).alias("run"),
            (100 * (pl.col("score") - pl.col("low")) / (pl.col("high") - pl.col("low"))).alias(
                "score"
            ),
            pl.col("algorithm").alias("agent"),
        )
    )


def _single_runs(data: PreparedScores) -> Iterator[Measurement]:
    """Yield the cover from few runs: on other sources, on our own results, on synthetic suites."""
    folder = Path(os.environ["GNOMON_DATA"]) / "scores"
    if folder.is_dir():
        scores = list(_further_runs(folder, data))
        means = [np.median([z.mean() for z in runs.values()]) for runs in scores]
        new = _Runs(scores, data.transform.forward(np.array(means)))
        for n in (1, 2, 3, None):
            told = _cover_of_runs(data, n, new, outer="group-folds", n_folds=3, n_repeats=5)
            yield _of_runs("further algorithms", n, [told], 0.9)
    for transform in ("identity", "log"):
        table = load_scores("gohr-full")
        own = prepare(table, transform=transform)
        for n in (1, None):
            yield _of_runs(f"gohr-full, {transform}", n, [_cover_of_runs(own, n, table)], 0.85)
    kinds = {}
    for n_factors in (1, 2):
        for ceiling in (False, True):
            tables = [_with_runs(n_factors, ceiling=ceiling, seed=seed) for seed in range(3)]
            told = [_cover_of_runs(prepare(t, transform="identity"), 1, t) for t in tables]
            kinds[f"{n_factors} factors{', ceilings' if ceiling else ''}"] = told
    for kind, told in kinds.items():
        yield _of_runs(f"synthetic suites, {kind}", 1, told, 0.85)


def _published(data: PreparedScores) -> Iterator[Measurement]:
    """Yield what published sets, and ours of equal size, err by on algorithms in no training."""
    folder = Path(os.environ["GNOMON_DATA"]) / "scores"
    if not folder.is_dir():
        return
    runs = [{task: x.mean() for task, x in one.items()} for one in _further_runs(folder, data)]
    new = [*runs, *_further_means(folder, data)]
    truth = np.array([np.median([*one.values()]) for one in new])
    ours: dict[int, SubsetModel] = {}
    for name, published in published_models().items():
        size = len(published.tasks)
        if size not in ours:
            found = _OURS.fit(data, _OURS.choose(data, size)[0])
            ours[size] = _OURS.with_spread(data, found)
        for words, model in ((name, published), (f"ours, beside {name}", ours[size])):
            said = [model.estimate({task: one[task] for task in model.tasks}) for one in new]
            # One of them is too far from the training to be given an estimate: its error counts.
            x = np.array([[one[task] for task in model.tasks] for one in new])
            value = data.transform.inverse(model.predict(data.transform.forward(x)))
            off = np.log1p(value) - np.log1p(truth)
            inside = [e.low <= y <= e.high for e, y in zip(said, truth, strict=True)]
            above = 100 * np.abs(off[truth > _LEAST]).mean()
            note = f"{(truth > _LEAST).sum()} above {_LEAST}: {above:.1f} %; "
            note += f"cover of 90 % {np.mean(inside):.2f}; {' '.join(model.tasks)}"
            error = 100 * float(np.abs(off).mean())
            what = f"{len(new)} further algorithms, {words}: error"
            yield Measurement(what, error, "%", None, False, note)


def _further_means(folder: Path, data: PreparedScores) -> Iterator[dict[str, float]]:
    """Yield the normalised mean scores of two algorithms after each of four numbers of frames."""
    ends = load_references("atari5")
    table = pl.read_csv(folder / "machado2018_mean_std.csv")
    game = pl.col("task").str.to_lowercase().str.replace_all("[^a-z]", "")
    groups = table.with_columns(game=game).group_by("algorithm", "frames", maintain_order=True)
    for _, rows in groups:
        named = dict(zip(rows["game"], rows["mean"], strict=True))
        known = {task: (named[task], *ends[task]) for task in data.tasks if task in named}
        yield {task: 100 * (x - low) / (high - low) for task, (x, low, high) in known.items()}


@dataclass(frozen=True)
class _Runs:
    """Algorithms that are in no training: scores of all runs by task, and transformed summaries."""

    scores: list[dict[str, FloatArray]]
    target: FloatArray


def _of_runs(
    name: str, n: int | None, told: list[tuple[FloatArray, FloatArray, float]], least: float
) -> Measurement:
    inside = np.concatenate([one[0] for one in told])
    z = np.concatenate([one[1] for one in told])
    half = float(np.median([one[2] for one in told]))
    note = f"{inside.size} algorithms, half width {100 * half:.0f} %, "
    note += f"residuals {np.sqrt(np.mean(np.minimum(z**2, 9))):.2f} of what was said"
    runs = "all runs" if n is None else f"{n} run{'s' if n > 1 else ''}"
    return Measurement(
        f"{name}, {runs}: cover of 90 %", float(inside.mean()), "", least, True, note
    )


def _cover_of_runs(
    data: PreparedScores, n: int | None, new: _Runs | ScoreTable, **options: Any
) -> tuple[FloatArray, FloatArray, float]:
    """Return cover and standardised residuals by algorithm, and the half width, from few runs.

    Tasks, weights and scale come from the folds of the training. Algorithms of the table are
    predicted by the models that were fitted without them, others by every model; the truth is the
    summary of all runs.
    """
    scale = nested_error(data, _OURS, 5, spread=True, rng=np.random.default_rng(0)).scale
    _, splits = nested_splits(data, options.pop("outer", "folds"), **options, rng=_rng(0))
    rng, inside, residuals, halves = _rng(1), {}, {}, []
    for _, held, kept in splits:
        train = data.rows(kept)
        tasks = _OURS.choose(train, 5)[0]
        model = _OURS.with_spread(train, _OURS.fit(train, tasks)).forecaster
        for i, scores, truth in _to_predict(data, held, new):
            if model is None or not set(tasks) <= set(scores):
                continue
            for _ in range(4 if n else 1):
                drawn = [rng.permutation(scores[task])[:n].mean() for task in tasks]
                x = data.transform.forward(np.array(drawn))
                found = model.forecast(x, np.full(5, float(n)) if n else None)
                low, high = found.interval(0.9, scale)
                inside.setdefault(i, []).append(low <= truth <= high)
                spread = np.sqrt(scale**2 * found.spread**2 + found.noise)
                residuals.setdefault(i, []).append((found.center - truth) / spread)
                halves.append((high - low) / 2 / model.unit)
    covers = np.array([np.mean(one) for one in inside.values()])
    each = np.array([np.sqrt(np.mean(np.square(one))) for one in residuals.values()])
    return covers, each, float(np.median(halves))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def _to_predict(
    data: PreparedScores, held: Mask, new: _Runs | ScoreTable
) -> Iterator[tuple[int, dict[str, FloatArray], float]]:
    """Yield number, runs by task and true summary of each algorithm that a model has not seen."""
    if isinstance(new, _Runs):
        for i, (scores, truth) in enumerate(zip(new.scores, new.target, strict=True)):
            yield i, scores, float(truth)
        return
    for i in np.flatnonzero(held):
        name = data.algorithms[i]
        runs = {task: new.last_step().runs(name, task) for task in data.tasks}
        yield int(i), runs, float(data.target[i])


def _with_runs(n_factors: int, *, ceiling: bool, seed: int) -> ScoreTable:
    """Return a made-up suite in five runs, noisier on some tasks than on others."""
    data = _suite(n_factors, ceiling=ceiling, seed=seed)
    rng = np.random.default_rng(seed + 100)
    spread = np.exp(rng.uniform(np.log(0.05), np.log(0.4), len(data.tasks)))
    runs = data.x + rng.standard_normal((5, *data.x.shape)) * spread
    rows = {name: runs[:, i] for i, name in enumerate(data.algorithms)}
    return ScoreTable.from_arrays(rows, tasks=data.tasks)


def _further_runs(folder: Path, data: PreparedScores) -> Iterator[dict[str, FloatArray]]:
    """Yield the normalised scores of all runs of each algorithm on each game, of other sources."""
    ends = load_references("atari5")
    for file in (
        "dopamine_atari_legacy_last10",
        "dopamine_atari_cnn_last10",
        "dreamerv3_final_runs",
    ):
        table = pl.read_csv(folder / f"{file}.csv")
        if "suite" in table.columns:
            table = table.filter(pl.col("suite") == "atari57")
        game = pl.col("task").str.to_lowercase().str.replace_all("[^a-z]", "")
        table = table.with_columns(game=game).drop_nulls("score")
        for (_,), rows in table.group_by(["algorithm"], maintain_order=True):
            found = {
                str(name): 100 * (part["score"].to_numpy() - ends[str(name)][0])
                / (ends[str(name)][1] - ends[str(name)][0])
                for (name,), part in rows.group_by(["game"])
                if name in data.tasks
            }  # fmt: skip
            if len(found) >= 40 and set(data.tasks) >= set(found):
                yield found


def _suite(n_factors: int, *, ceiling: bool, seed: int, n: int = 50) -> PreparedScores:
    """Return a made-up suite with families and a trend of ten years."""
    rng = np.random.default_rng(seed)
    year = np.sort(rng.integers(2010, 2020, n)).astype(float)
    family = rng.integers(0, 15, n)
    skill = rng.normal(0, 0.4, (n, n_factors)) + 0.08 * (year - 2010)[:, np.newaxis]
    skill += rng.normal(0, 0.3, (15, n_factors))[family]
    loads = rng.uniform(0.3, 1.0, (n_factors, 40))
    x = 2.0 + skill @ loads / n_factors**0.5 + rng.normal(0, 0.3, (n, 40))
    if ceiling:
        x[:, :12] = np.minimum(x[:, :12], 2.6)
    names, tasks = tuple(f"a{i:02}" for i in range(n)), tuple(f"t{j:02}" for j in range(40))
    y = np.median(x, axis=1)
    groups = tuple(f"f{g}" for g in family)
    base = PreparedScores(names, tasks, x, y, y, tasks, groups, transform_of("identity"))
    return replace(base, years=year)


def _sparse(data: PreparedScores) -> Iterator[Measurement]:
    """Yield errors of targets and of predictions with cells deleted at random."""
    for share in (0.33, 0.5, 0.63):
        rng = np.random.default_rng(0)
        x = np.where(rng.random(data.x.shape) < (share - 0.04) / 0.96, np.nan, data.x)
        x[np.isnan(x).sum(axis=1) > len(data.tasks) - 3] = np.nan
        kept = data.rows(~np.isnan(x).all(axis=1))
        sparse = completed_targets(replace(kept, x=x[~np.isnan(x).all(axis=1)]))
        place = {name: i for i, name in enumerate(data.algorithms)}
        rows = [place[name] for name in sparse.algorithms]
        target = 100 * np.log(10) * np.abs(sparse.target - data.target[rows]).mean()
        off = []
        for _, held, kept_rows in nested_splits(sparse, "folds", rng=rng)[1]:
            train = sparse.rows(kept_rows)
            tasks = _OURS.choose(train, 5)[0]
            # A new algorithm has the tasks that were chosen, and the truth is the whole summary.
            new = data.rows([rows[i] for i in np.flatnonzero(held)])
            predicted = _OURS.fit(train, tasks).predict(new.x[:, new.columns(tasks)])
            off += (predicted - new.target).tolist()
        error = 100 * np.log(10) * float(np.nanmean(np.abs(off)))
        note = f"target off by {target:.1f} %"
        yield Measurement(f"{share:.0%} missing: error", error, "%", None, False, note)


def _costs(data: PreparedScores) -> Iterator[Measurement]:
    """Yield nested errors by budget: costs log-normal, mean 1."""
    rng = np.random.default_rng(0)
    costs = dict(zip(data.tasks, rng.lognormal(-0.245, 0.7, len(data.tasks)).tolist(), strict=True))
    for budget in (1.0, 2.0, 4.0):
        held = nested_error(data, BudgetProcedure(costs, budget), 0, rng=np.random.default_rng(0))
        tasks = np.mean([len(chosen) for chosen in held.chosen])
        note = f"{tasks:.1f} tasks on average, chosen inside"
        yield Measurement(
            f"budget {budget:g}: error", 100 * held.relative_error, "%", None, False, note
        )


def _baselines(data: PreparedScores) -> Iterator[Measurement]:
    sets = {"Atari-5": published_models()["Atari-5"].tasks}
    for nested in ("folds", "time"):
        for one in baselines(data, size=5, sets=sets, nested=nested):
            note = f"skill {one.skill:.2f}; {one.n_predicted} predicted"
            yield Measurement(
                f"{one.method}, {nested}: error", 100 * one.error, "%", None, False, note
            )
