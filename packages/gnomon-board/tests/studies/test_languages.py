"""Languages of the pages: every file has every text, with the same places to fill in."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "src" / "gnomon_board" / "studies" / "languages"


def texts(language):
    return tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))


def test_german_says_all_that_english_says():
    english, german = texts("en"), texts("de")
    assert list(german) == list(english)
    for name, text in english.items():
        places = [set(re.findall(r"\{\w+\}", each)) for each in (german[name], text)]
        assert places[0] == places[1], name
