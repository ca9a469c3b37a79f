"""Draw the statistics figures of docs/gnomon/gallery.md from published scores.

``python docs/make_statistics_gallery.py DATA [FOLDER]``. DATA is a folder with the published tables
that the page names, as tidy files; they are not part of this project. Drawn again, the figures
differ only where the code or the processor does.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gnomon.plot import Figure
from gnomon.scores import ScoreTable, SummaryTable, normalize, read_scores, read_summaries
from gnomon.stats import Plan, compare, curves, estimate, plan, profile

AGENTS = ("DQN", "C51", "Rainbow", "IQN")
SARSA = "Sarsa(lambda)+Blob-PROST"


class Data:
    """The published tables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def atari(self) -> ScoreTable:
        """Return five agents on Atari."""
        table = read_scores(self.folder / "dopamine_atari_cnn_last10.csv")
        return normalize(table, "random-human")

    def atari_curves(self) -> ScoreTable:
        """Return four agents on Atari along training."""
        path = self.folder / "dopamine_atari_legacy_curves.csv"
        table = read_scores(path, columns={"step": "million_frames"}).select(algorithms=AGENTS)
        return normalize(table, "random-human")

    def control(self) -> ScoreTable:
        """Return six agents on continuous control from states."""
        where = {"suite": "dmc_proprio"}
        return read_scores(self.folder / "dreamerv3_final_runs.csv", where=where).last_step()

    def summaries(self) -> SummaryTable:
        """Return means and standard deviations, frame budgets apart."""
        path = self.folder / "machado2018_mean_std.csv"
        found = read_summaries(path, keep_apart="frames")
        names = tuple(re.sub(r"000000$", " M", name) for name in found.algorithms)
        return SummaryTable(names, found.tasks, found.mean, found.deviation, found.n_runs)


def ratio_profile(data: Data) -> Figure:
    """Draw Dolan and Moré's profiles."""
    table = data.control().select(algorithms=["d4pg", "ddpg", "dmpo", "dreamerv3", "mpo"])
    return profile(table, "ratio").figure()


def average_profile(data: Data) -> Figure:
    """Draw shares of tasks."""
    table = data.control().select(algorithms=["dreamerv3", "dmpo", "ppo_fixhp"])
    return profile(table, "average_score").figure()


def likelihood(data: Data, *names: str) -> Figure:
    """Draw Recht's profiles."""
    return profile(data.summaries().select(names), "likelihood").figure()


def efficiency(data: Data) -> Figure:
    """Draw median beside IQM over training frames."""
    return curves(data.atari_curves(), ["median", "iqm"], step="million frames").figure()


def power(data: Data) -> Figure:
    """Draw how many runs tell pairs apart."""
    table = data.control()
    pairs = (("d4pg", "dmpo"), ("d4pg", "ddpg"), ("dmpo", "mpo"))
    return Plan(tuple(p for pair in pairs for p in plan(table, *pair))).figure()


def made_evaluation() -> ScoreTable:
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
    return ScoreTable.from_records(rows, units="items")


def items(_: Data) -> Figure:
    """Draw two models on the same items, topic by topic."""
    return compare(made_evaluation(), "large", "small", by="topic").figure()


def item_plan(_: Data) -> Figure:
    """Draw how many items and epochs tell two models apart that are 0.1 apart."""
    return plan(made_evaluation(), "small", "old", items=(20, 40, 80, 160, 320, 640)).figure()


def item_looks(_: Data) -> Figure:
    """Draw a comparison as items arrive, in an order drawn at random."""
    table = made_evaluation()
    order = np.random.default_rng(1).permutation(len(table.tasks))
    place = dict(zip(table.tasks, order.tolist(), strict=True))
    frame = table.to_polars()
    frame = frame.with_columns(place=[place[task] for task in frame["task"]])
    mixed = ScoreTable.from_frame(frame.sort("place").drop("place"), units="items")
    return compare(mixed, "large", "small", sequential="e").figure()


#: Name of the picture -> what draws it.
FIGURES: dict[str, Callable[[Data], Figure]] = {
    "aggregates": lambda data: estimate(data.atari()).figure(),
    "average-profiles": average_profile,
    "differences": lambda data: compare(data.atari(), "IQN", "Rainbow").figure(),
    "improvement-map": lambda data: compare(data.atari()).figure(),
    "item-looks": item_looks,
    "item-plan": item_plan,
    "items": items,
    "likelihood-10m": lambda data: likelihood(data, f"{SARSA} 200 M", "DQN 10 M"),
    "likelihood-200m": lambda data: likelihood(data, f"{SARSA} 200 M", "DQN 200 M"),
    "power": power,
    "ratio-profiles": ratio_profile,
    "sample-efficiency": efficiency,
    "score-profiles": lambda data: profile(data.atari()).figure(),
}


def make_gallery(data: Path, folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for name, draw in FIGURES.items():
        pictures.append(folder / f"{name}.svg")
        draw(Data(data)).write(pictures[-1])
    return pictures


if __name__ == "__main__":
    default = Path(__file__).parent / "images" / "statistics"
    for path in make_gallery(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else default):
        print(path.name, path.stat().st_size)
