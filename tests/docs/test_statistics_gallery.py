"""The statistics pictures of the gallery are those of their script, and can be drawn again."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "scores"


@pytest.fixture(scope="module")
def script():
    path = DOCS / "make_statistics_gallery.py"
    spec = importlib.util.spec_from_file_location("make_statistics_gallery", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_shows_every_picture_of_the_script(script):
    names = {f"{name}.svg" for name in script.FIGURES}
    assert names == {path.name for path in (DOCS / "images" / "statistics").iterdir()}
    text = (DOCS / "gnomon" / "gallery.md").read_text("utf-8")
    assert [name for name in names if f"(../images/statistics/{name})" not in text] == []


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared score files are not here")
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("name", ["likelihood-10m", "likelihood-200m", "ratio-profiles"])
def test_the_script_draws_what_is_shown(script, name):
    figure = script.FIGURES[name](script.Data(DATA))
    shown = (DOCS / "images" / "statistics" / f"{name}.svg").read_text("utf-8")
    # The words; lines may differ in the last digit from one Matplotlib to the next.
    words = re.compile(r"<text[^>]*>([^<]*)</text>")
    assert words.findall(figure.svg) == words.findall(shown) != []
