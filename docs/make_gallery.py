"""Draw the figures of docs/gnomon/gallery.md: ``python docs/make_gallery.py [FOLDER]``.

They come from two small runs, with fixed seeds, through the same code as any report.
Drawn again, they differ only where the code or the processor does. The figures of statistics are
drawn by ``make_statistics_gallery.py``.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gnomon import compare, rank
from gohr import report
from gohr.experiments import load_experiment, run, score

#: Name of the picture -> the figure of the demo's report that it is.
OF_REPORT = {
    "board": "board",
    "boxes": "boxes-2-linear-dqn",
    "intervals": "summaries",
    "median-curves": "median-curves-2-linear-dqn",
    "tests": "tests-2-linear-dqn",
    "trials": "trials-2-linear-dqn-1-color-match",
}


def make_gallery(folder: Path, *, trials: int = 12, episodes: int = 100) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with tempfile.TemporaryDirectory() as played:
        for name, text in (*report_pictures(played, trials, episodes), *rank_pictures(played)):
            pictures.append(folder / f"{name}.svg")
            pictures[-1].write_text(text, encoding="utf-8")
    return pictures


def report_pictures(played: str, trials: int, episodes: int) -> Iterator[tuple[str, str]]:
    """Yield the figures of a report on the demo's experiment, with fewer trials."""
    folder = Path(played, "demo")
    run(load_experiment("demo", trials=trials, episodes=episodes), folder)
    figures = report(folder).parent / "figures"
    for name, figure in OF_REPORT.items():
        yield name, (figures / f"{figure}.svg").read_text(encoding="utf-8")


def rank_pictures(played: str) -> Iterator[tuple[str, str]]:
    """Yield the ranks of a suite: three learners, fifteen rules, ten trials."""
    learners = ["frugal", "tabular_q", "reinforce"]
    config = load_experiment("gohr-core", learners=learners, trials=10, episodes=60)
    table = score(run(config, Path(played, "suite")).folder, "tce")
    yield "ranks", rank(table).figure().svg
    yield "wins", compare(table, metrics="probability_of_improvement").figure().svg


if __name__ == "__main__":
    here = Path(__file__).parent
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else here / "images" / "gallery"):
        print(path.name, path.stat().st_size)
