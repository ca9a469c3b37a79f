"""Draw the statistics figures of docs/gallery.md from published scores.

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

from gnomon.plot import statistics as drawn
from gnomon.plot.record import Figure
from gnomon.scores.normalization import normalize
from gnomon.scores.readers.foreign import SummaryTable, read_summaries
from gnomon.scores.readers.tidy_files import read_scores
from gnomon.scores.table import ScoreTable
from gnomon.stats.comparisons.comparison import compare, compare_all
from gnomon.stats.estimates import estimate
from gnomon.stats.learning_curves import aggregate_curves
from gnomon.stats.power import power_curve
from gnomon.stats.profiles.distance import distance_profiles
from gnomon.stats.profiles.performance import performance_profiles
from gnomon.stats.subsampling import subsample_table

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
        table = read_scores(path, step_column="million_frames").select(algorithms=AGENTS)
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


def rng() -> np.random.Generator:
    """Return a fresh source of draws."""
    return np.random.default_rng(0)


def scores_profile(data: Data) -> Figure:
    """Draw shares of runs."""
    table = data.atari()
    found = performance_profiles(table, spacing="data", rng=rng())
    return drawn.profile_figure(found, table.scale, higher_is_better=True)


def average_profile(data: Data) -> Figure:
    """Draw shares of tasks."""
    table = data.control().select(algorithms=["dreamerv3", "dmpo", "ppo_fixhp"])
    found = performance_profiles(table, kind="average_score", band="simultaneous", rng=rng())
    return drawn.profile_figure(found, table.scale, higher_is_better=True)


def ratio_profile(data: Data) -> Figure:
    """Draw Dolan and Moré's profiles."""
    table = data.control().select(algorithms=["d4pg", "ddpg", "dmpo", "dreamerv3", "mpo"])
    found = distance_profiles(table, "ratio", rng=rng())
    return drawn.profile_figure(found, "", higher_is_better=True)


def likelihood(data: Data, *names: str) -> Figure:
    """Draw Recht's profiles."""
    found = distance_profiles(data.summaries().select(names), "likelihood", rng=rng())
    return drawn.profile_figure(found, "", higher_is_better=True)


def intervals(data: Data) -> Figure:
    """Draw aggregates with intervals."""
    table = data.atari()
    return drawn.estimate_figure(estimate(table, rng=rng()), table.scale)


def improvement_map(data: Data) -> Figure:
    """Draw all pairs."""
    table = data.atari()
    found = compare_all(table, "probability_of_improvement", rng=rng())
    return drawn.comparison_figure(found, table.scale)


def differences(data: Data) -> Figure:
    """Draw one pair in several metrics."""
    table = data.atari()
    return drawn.comparison_figure(compare(table, "IQN", "Rainbow", rng=rng()), table.scale)


def efficiency(data: Data) -> Figure:
    """Draw median beside IQM over training frames."""
    table = data.atari_curves()
    found = aggregate_curves(table, ["median", "iqm"], rng=rng())
    return drawn.curve_figure(found, table.scale, "million frames")


def fewer_runs(data: Data) -> Figure:
    """Draw median beside IQM of fewer runs."""
    table = data.control().select(algorithms=["d4pg", "ddpg", "dmpo", "mpo"])
    draws = rng()
    found = [
        one
        for metric in ("median", "iqm")
        for one in subsample_table(table, metric, runs=[2, 3, 5], n_draws=2000, rng=draws)
    ]
    return drawn.subsample_figure(found, table.scale)


def power(data: Data) -> Figure:
    """Draw how many runs tell pairs apart."""
    table, draws = data.control(), rng()
    points = [
        point
        for pair in (("d4pg", "dmpo"), ("d4pg", "ddpg"), ("dmpo", "mpo"))
        for point in power_curve(table, *pair, runs=(3, 5, 10, 20, 40), rng=draws)
    ]
    return drawn.power_figure(points, 0.8)


#: Name of the picture -> what draws it.
FIGURES: dict[str, Callable[[Data], Figure]] = {
    "aggregates": intervals,
    "average-profiles": average_profile,
    "differences": differences,
    "fewer-runs": fewer_runs,
    "improvement-map": improvement_map,
    "likelihood-10m": lambda data: likelihood(data, f"{SARSA} 200 M", "DQN 10 M"),
    "likelihood-200m": lambda data: likelihood(data, f"{SARSA} 200 M", "DQN 200 M"),
    "power": power,
    "ratio-profiles": ratio_profile,
    "sample-efficiency": efficiency,
    "score-profiles": scores_profile,
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
