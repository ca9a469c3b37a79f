"""Draw the figures of docs/gallery.md: ``python docs/make_gallery.py [FOLDER]``.

They come from a small run of the demo's experiment, with its seed, through the same code as the
report of any run. Drawn again, they differ only where the code or the processor does.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from gnomon.experiments.catalogue import load_experiment
from gnomon.experiments.config import ExperimentConfig
from gnomon.experiments.runner import run
from gnomon.report.page import build_report

#: Name of the picture -> the figure of the report that it is.
FIGURES = {
    "board": "board",
    "boxes": "boxes-2-linear-dqn",
    "intervals": "summaries",
    "median-curves": "median-curves-2-linear-dqn",
    "tests": "tests-2-linear-dqn",
    "trials": "trials-2-linear-dqn-1-color-match",
}


def small_experiment(trials: int, episodes: int) -> ExperimentConfig:
    """Return the demo's experiment with fewer trials, of fewer episodes."""
    record = load_experiment("demo").to_record()
    return ExperimentConfig.from_record(record | {"trials": trials, "episodes": episodes})


def make_gallery(folder: Path, *, trials: int = 12, episodes: int = 100) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    with tempfile.TemporaryDirectory() as played:
        run(small_experiment(trials, episodes), played)
        figures = build_report(played).parent / "figures"
        for name, figure in FIGURES.items():
            picture = folder / f"{name}.svg"
            picture.write_bytes((figures / f"{figure}.svg").read_bytes())
            pictures.append(picture)
    return pictures


if __name__ == "__main__":
    here = Path(__file__).parent
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else here / "images" / "gallery"):
        print(path.name, path.stat().st_size)
