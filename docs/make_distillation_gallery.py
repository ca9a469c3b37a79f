"""Draw the figures of docs/gnomon/distill.md from the published Atari scores.

``python docs/make_distillation_gallery.py [FOLDER]``. The scores are those that ``gnomon distill
atari5`` takes, from ``GNOMON_DATA`` or from their authors. Drawn again, the figures differ only
where the code or the processor does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from gnomon.distillation import (
    PreparedScores,
    atari,
    correlations,
    distill,
    explained,
    single,
    sizes,
    stability,
)
from gnomon.plot import Figure


def paper_figures(data: PreparedScores) -> Iterator[Figure]:
    """Yield figures 2, 4 and 5 of the Atari-5 paper."""
    five = atari.published_models()["Atari-5"].tasks
    genres = {game: genre for genre, games in atari.GENRES.items() for game in games}
    yield single(data, categories=genres).figure()
    yield explained(data, five).figure()
    yield correlations(data, categories=genres).figure()


def own_figures(data: PreparedScores) -> Iterator[Figure]:
    """Yield what the paper does not draw: honest errors, stability."""
    yield distill(data).figure()
    yield sizes(data, most=8, repeats=3).figure()
    yield stability(data).figure()


def make_gallery(folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data = atari.paper_scores()
    pictures = []
    for figure in (*paper_figures(data), *own_figures(data)):
        pictures.append(folder / f"{figure.name}.svg")
        figure.write(pictures[-1])
    return pictures


if __name__ == "__main__":
    default = Path(__file__).parent / "images" / "distillation"
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else default):
        print(path.name, path.stat().st_size)
