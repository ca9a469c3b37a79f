"""The figures of the pages on gnomon are those of their script, and each stands on a page."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "scores"
PAGES = "".join(page.read_text("utf-8") for page in (DOCS / "gnomon").glob("*.md"))
WORDS = re.compile(r"<text[^>]*>([^<]*)</text>")
SPEC = importlib.util.spec_from_file_location("make_figures", DOCS / "make_figures.py")
SCRIPT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(SCRIPT)


@pytest.mark.parametrize("name", SCRIPT.FIGURES)
def test_a_page_shows_the_figure(name):
    assert f"(../images/{name}.svg)" in PAGES


@pytest.mark.skipif(not DATA.is_dir(), reason="the published scores are not in the repository")
@pytest.mark.filterwarnings("ignore::gnomon.errors.DegenerateScoresWarning")
@pytest.mark.parametrize("name", ["statistics/ratio-profiles", "ranking/rank-intervals"])
def test_the_script_draws_the_words_of_the_figure(name):
    figure = SCRIPT.FIGURES[name](DATA)
    shown = (DOCS / "images" / f"{name}.svg").read_text("utf-8")
    # Lines may differ in the last digit from one Matplotlib to the next.
    assert WORDS.findall(figure.svg) == WORDS.findall(shown) != []
