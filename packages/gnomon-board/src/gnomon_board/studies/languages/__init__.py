"""Texts shown to players, one file per language; all must have the texts of the English one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal

#: Shapes that a page can draw.
DRAWN_SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
#: Colours that a page can draw, with a code of two letters each. Blue and black share their first
#: letters, so these are the codes of IEC 60757.
COLOR_CODES: Mapping[str, str] = MappingProxyType({
    "RED": "RD", "BLACK": "BK", "BLUE": "BU", "YELLOW": "YE", "GREEN": "GN", "ORANGE": "OG",
    "PURPLE": "PU", "PINK": "PK", "WHITE": "WH", "GRAY": "GY",
})  # fmt: skip


Language = Literal["de", "en"]


@cache
def texts(language: str) -> Mapping[str, str]:
    """Return the texts of a language, by name."""
    text = resources.files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))
