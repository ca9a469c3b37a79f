"""Draw the figures of the pages on gnomon: ``python docs/make_figures.py DATA [FOLDER]``.

DATA is a folder with the published tables that the pages name, as tidy files; they are not part of
this project. Drawn again, the figures differ only where the code or the processor does.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gnomon import compare, curves, distill, estimate, normalize, plan, profile, rank, read_scores
from gnomon.distillation import atari
from gnomon.plot import Figure
from gnomon.ranking import critical_difference
from gnomon.scores import ScoreTable
from gnomon.stats import Loop
from gohr.experiments import load_experiment, run, score


def agents(data: Path) -> ScoreTable:
    """Return five agents on Atari."""
    return normalize(read_scores(data / "dopamine_atari_cnn_last10.csv"), "random-human")


def training(data: Path) -> ScoreTable:
    """Return four agents on Atari along training."""
    path = data / "dopamine_atari_legacy_curves.csv"
    table = read_scores(path, columns={"step": "million_frames"})
    return normalize(table.select(algorithms=["DQN", "C51", "Rainbow", "IQN"]), "random-human")


def control(data: Path, *names: str) -> ScoreTable:
    """Return agents on continuous control from states."""
    where = {"suite": "dmc_proprio"}
    table = read_scores(data / "dreamerv3_final_runs.csv", where=where).last_step()
    return table.select(algorithms=names)


def ranked(data: Path) -> ScoreTable:
    """Return six agents on sixty games."""
    return read_scores(data / "dopamine_atari_legacy_last10.csv")


def evaluation() -> ScoreTable:
    """Return a made-up evaluation: three models, 240 items of four topics, four epochs."""
    rng = np.random.default_rng(7)
    n, topics = 240, np.repeat(["algebra", "geometry", "logic", "reading"], [90, 60, 60, 30])
    ability = {"large": 0.08, "small": -0.06, "old": -0.2}
    gain = {"algebra": 0.12, "geometry": 0.04, "logic": 0.0, "reading": -0.04}
    ease = rng.beta(1.2, 0.8, n)
    rows = [
        {"algorithm": name, "task": f"q{i}", "run": e, "topic": topics[i], "score": float(right)}
        for name, by in ability.items()
        for i in range(n)
        for e, right in enumerate(
            rng.random(4) < ease[i] + by + (gain[topics[i]] if name == "large" else 0.0)
        )
    ]
    return ScoreTable(rows, units="items")


def looks(_: Path) -> Figure:
    """Draw a comparison as items arrive, in an order drawn at random."""
    table = evaluation()
    order = np.random.default_rng(1).permutation(len(table.tasks))
    place = dict(zip(table.tasks, order.tolist(), strict=True))
    frame = table.to_pandas()
    mixed = frame.iloc[np.argsort([place[task] for task in frame["task"]], kind="stable")]
    return compare(ScoreTable(mixed, units="items"), "large", "small", sequential="e").figure()


def difficulty(_: Path) -> Figure:
    """Draw the rules of a suite by difficulty for three learners, ten trials each."""
    learners = ["frugal", "tabular_q", "reinforce"]
    config = load_experiment("gohr-core", learners=learners, trials=10, episodes=60)
    with tempfile.TemporaryDirectory() as folder:
        table = score(run(config, Path(folder, "suite")), "tce")
    return rank(table, by="task").figure()


def loop(_: Path) -> Figure:
    """Draw a simulated loop of 150 candidates, a tenth of them better."""
    rng, found, truth = np.random.default_rng(1), Loop(), {"main": 0.0}
    asked, i = ("main",), 0
    while i < 150 or asked:
        if not asked:
            better = rng.random() < 0.1
            truth[f"c{i}"] = truth[found.baseline] + (1.0 if better else -0.3) * rng.exponential()
            asked, i = (f"c{i}",), i + 1
        found.add(asked[0], truth[asked[0]] + rng.normal())
        asked = found.decisions().latest.run
    return found.decisions().figure()


#: Path of the picture -> what draws it.
FIGURES: dict[str, Callable[[Path], Figure]] = {
    "statistics/aggregates": lambda data: estimate(agents(data)).figure(),
    "statistics/differences": lambda data: compare(agents(data), "IQN", "Rainbow").figure(),
    "statistics/score-profiles": lambda data: profile(agents(data)).figure(),
    "statistics/ratio-profiles": lambda data: profile(
        control(data, "d4pg", "ddpg", "dmpo", "dreamerv3", "mpo"), "ratio"
    ).figure(),
    "statistics/sample-efficiency": lambda data: curves(
        training(data), ["median", "iqm"], step="million frames"
    ).figure(),
    "statistics/power": lambda data: plan(
        control(data, "d4pg", "dmpo", "ddpg"), metrics="iqm"
    ).figure(),
    "evaluations/items": lambda _: compare(evaluation(), "large", "small", by="topic").figure(),
    "evaluations/item-looks": looks,
    "gate/loop": loop,
    "ranking/rank-intervals": lambda data: rank(ranked(data)).figure(),
    "ranking/improvement": lambda data: compare(
        ranked(data), metrics="probability_of_improvement"
    ).figure(),
    "ranking/critical-difference": lambda data: critical_difference(ranked(data)).figure(),
    "ranking/difficulty": difficulty,
    "distillation/predictions": lambda _: distill(atari.paper_scores()).figure(),
}


if __name__ == "__main__":
    folder = Path(sys.argv[2]) if sys.argv[2:] else Path(__file__).parent / "images"
    for name, draw in FIGURES.items():
        path = folder / f"{name}.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        draw(Path(sys.argv[1])).write(path)
        print(path.name, path.stat().st_size)
