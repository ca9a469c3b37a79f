"""Draw the figures of docs/gnomon/ranking.md and docs/gnomon/audit.md.

``python docs/make_ranking_figures.py DATA [FOLDER]``. DATA is a folder with the published tables that
the page on audits names, as tidy files; they are not part of this project. The difficulties come from a small
run with a fixed seed. Drawn again, the figures differ only where the code or the processor
does.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from gnomon import compare
from gnomon.plot import Figure
from gnomon.ranking import critical_difference, rank
from gnomon.scores import read_scores
from gohr.experiments import load_experiment, run, score

TABLE = "dopamine_atari_legacy_last10.csv"
NAMES = ("rank-intervals", "improvement", "critical-difference", "difficulty")


def published_figures(data: Path) -> list[Figure]:
    """Return the figures of six agents on sixty games."""
    table = read_scores(data / TABLE)
    found = (
        rank(table),
        compare(table, metrics="probability_of_improvement"),
        critical_difference(table),
    )
    return [one.figure() for one in found]


def difficulty() -> Figure:
    """Return the rules of a suite by difficulty for three learners, ten trials each."""
    learners = ["frugal", "tabular_q", "reinforce"]
    config = load_experiment("gohr-core", learners=learners, trials=10, episodes=60)
    with tempfile.TemporaryDirectory() as folder:
        table = score(run(config, Path(folder, "suite")).folder, "tce")
    figure: Figure = replace(rank(table, by="task").figure(), name="difficulty")
    return figure


def make_figures(data: Path, folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    for figure in [*published_figures(data), difficulty()]:
        pictures.append(folder / f"{figure.name}.svg")
        figure.write(pictures[-1])
    return pictures


if __name__ == "__main__":
    default = Path(__file__).parent / "images" / "ranking"
    for path in make_figures(Path(sys.argv[1]), Path(sys.argv[2]) if sys.argv[2:] else default):
        print(path.name, path.stat().st_size)
