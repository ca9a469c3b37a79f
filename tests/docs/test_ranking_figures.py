"""The pictures of rankings are those of their script, and the pages show all of them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "scores"


@pytest.fixture(scope="module")
def script():
    path = DOCS / "make_ranking_figures.py"
    spec = importlib.util.spec_from_file_location("make_ranking_figures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_show_every_picture_of_the_script(script):
    folder = DOCS / "images" / "ranking"
    assert {f"{name}.svg" for name in script.NAMES} == {path.name for path in folder.iterdir()}
    text = "".join(
        (DOCS / "gnomon" / page).read_text("utf-8") for page in ("ranking.md", "audit.md")
    )
    assert [name for name in script.NAMES if f"(../images/ranking/{name}.svg)" not in text] == []


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared score files are not here")
def test_the_script_draws_what_is_shown(script):
    # The words; lines may differ in the last digit from one Matplotlib to the next.
    words = re.compile(r"<text[^>]*>([^<]*)</text>")
    for figure in script.published_figures(DATA):
        shown = (DOCS / "images" / "ranking" / f"{figure.name}.svg").read_text("utf-8")
        assert words.findall(figure.svg) == words.findall(shown) != []
