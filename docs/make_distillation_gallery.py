"""Draw the figures of docs/distill.md from the published Atari scores.

``python docs/make_distillation_gallery.py [FOLDER]``. The scores are those that ``gnomon distill
atari5`` takes, from ``GNOMON_DATA`` or from their authors. Drawn again, the figures differ only
where the code or the processor does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gnomon.distill.atari.facts import GENRES, published_models
from gnomon.distill.atari.paper_models import paper_scores
from gnomon.distill.distillation import distill, error_by_size
from gnomon.distill.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import PaperProcedure
from gnomon.distill.procedures.registry import procedure_of
from gnomon.distill.stability import selection_stability
from gnomon.distill.structure import edges, single_tasks, task_models
from gnomon.distill.validation import cross_validate
from gnomon.plot import distillation as drawn
from gnomon.plot.record import Figure


def rng() -> np.random.Generator:
    """Return a fresh source of draws."""
    return np.random.default_rng(0)


def paper_figures(data: PreparedScores) -> Iterator[Figure]:
    """Yield figures 2 to 5 of the Atari-5 paper."""
    five = published_models()["Atari-5"].tasks
    genres = {game: genre for genre, games in GENRES.items() for game in games}
    yield drawn.single_task_figure(single_tasks(data), genres)
    yield drawn.fairness_figure(data, cross_validate(data, PaperProcedure(), five))
    yield drawn.explained_figure(task_models(data, five), five)
    yield drawn.correlation_figure(edges(data), genres)


def own_figures(data: PreparedScores) -> Iterator[Figure]:
    """Yield what the paper does not draw: honest errors, stability."""
    factor = procedure_of("factor")
    best = distill(data, 5, factor, rng=rng())[0]
    yield drawn.prediction_figure(data, best)
    yield drawn.size_figure(error_by_size(data, range(1, 9), factor, n_repeats=3, rng=rng()))
    yield drawn.stability_figure(selection_stability(data, factor, 5, rng=rng()))


def make_gallery(folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data = paper_scores()
    pictures = []
    for figure in (*paper_figures(data), *own_figures(data)):
        pictures.append(folder / f"{figure.name}.svg")
        figure.write(pictures[-1])
    return pictures


if __name__ == "__main__":
    default = Path(__file__).parent / "images" / "distillation"
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else default):
        print(path.name, path.stat().st_size)
