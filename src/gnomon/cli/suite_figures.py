"""The figures of ``gnomon distill`` and ``gnomon suite``: the option, and what draws them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli.long_search import check_writable
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    from gnomon.plot.record import Figure

__all__ = ["Picture", "drawn"]

#: What a figure can be written as.
_KINDS = (".svg", ".png", ".pdf")


def _checked(path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in _KINDS:
        named = " or ".join((", ".join(_KINDS[:-1]), _KINDS[-1]))
        raise ScoreDataError(f"{path}: expected a name that ends in {named}")
    return check_writable(path)


Picture = Annotated[
    Path | None, typer.Option(help="Draw to this file: .svg, .png or .pdf.", callback=_checked)
]


def drawn(name: str, *found: object) -> Callable[[], Figure]:
    """Return what draws a figure of gnomon.plot.distillation, whose import loads Matplotlib."""

    def draw() -> Figure:
        figure: Figure = getattr(import_module("gnomon.plot.distillation"), name)(*found)
        return figure

    return draw
