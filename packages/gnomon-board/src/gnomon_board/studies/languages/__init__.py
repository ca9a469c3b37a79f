"""Texts shown to players, one file per language; all must have the texts of the English one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from gnomon.errors import UnknownNameError

#: Shapes that a page can draw.
DRAWN_SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
#: Colours that a page can draw, with a code of two letters each. Blue and black share their first
#: letters, so these are the codes of IEC 60757.
COLOR_CODES: Mapping[str, str] = MappingProxyType({
    "RED": "RD", "BLACK": "BK", "BLUE": "BU", "YELLOW": "YE", "GREEN": "GN", "ORANGE": "OG",
    "PURPLE": "PU", "PINK": "PK", "WHITE": "WH", "GRAY": "GY",
})  # fmt: skip


@cache
def available_languages() -> tuple[str, ...]:
    """Return the available languages.

    Examples
    --------
    >>> available_languages()
    ('de', 'en')
    """
    files = resources.files(__name__).iterdir()
    return tuple(sorted(f.name.removesuffix(".toml") for f in files if f.name.endswith(".toml")))


@cache
def texts(language: str) -> Mapping[str, str]:
    """Return the texts of a language by name.

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
