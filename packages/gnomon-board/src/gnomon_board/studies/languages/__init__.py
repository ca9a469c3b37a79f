"""Texts that players read, one file a language; English is the one that all others must match."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from gnomon.errors import UnknownNameError

#: Shapes that a page can draw.
DRAWN_SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
#: Colours that a page can paint, with two letters for each. Blue and black begin alike, so these
#: are the codes of IEC 60757, which electricians use.
COLOR_CODES: Mapping[str, str] = MappingProxyType({
    "RED": "RD", "BLACK": "BK", "BLUE": "BU", "YELLOW": "YE", "GREEN": "GN", "ORANGE": "OG",
    "PURPLE": "PU", "PINK": "PK", "WHITE": "WH", "GRAY": "GY",
})  # fmt: skip


@cache
def available_languages() -> tuple[str, ...]:
    """Return the languages that there is a file of.

    Examples
    --------
    >>> available_languages()
    ('de', 'en')
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


@cache
def texts(language: str) -> Mapping[str, str]:
    """Return the texts of a language by their names.

    Raises UnknownNameError: there is no file of this language.

    Examples
    --------
    >>> texts("de")["RED"]
    'rot'
    """
    if language not in available_languages():
        raise UnknownNameError("language", language, available_languages())
    text = resources.files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return MappingProxyType(tomllib.loads(text))
