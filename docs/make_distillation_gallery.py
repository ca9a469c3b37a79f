"""Draw the figures of docs/gnomon/distill.md from the published Atari scores.

``python docs/make_distillation_gallery.py [FOLDER]``. The scores are those that ``gnomon distill
atari5`` takes, from ``GNOMON_DATA`` or from their authors.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gnomon.distillation import atari, distill, sizes


def make_gallery(folder: Path) -> list[Path]:
    """Write the pictures into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    data = atari.paper_scores()
    found = (distill(data), sizes(data, most=8))
    pictures = []
    for figure in (one.figure() for one in found):
        pictures.append(folder / f"{figure.name}.svg")
        figure.write(pictures[-1])
    return pictures


if __name__ == "__main__":
    default = Path(__file__).parent / "images" / "distillation"
    for path in make_gallery(Path(sys.argv[1]) if sys.argv[1:] else default):
        print(path.name, path.stat().st_size)
