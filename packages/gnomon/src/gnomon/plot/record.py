"""A figure as the report carries it: the drawing as SVG, its caption, and its numbers as rows."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure as Drawing

from gnomon.errors import ScoreDataError
from gnomon.files import write_atomically, write_together
from gnomon.plot.style import THEME, default_settings, svg_text

#: What a drawing can be written as.
FORMATS = ("svg", "png", "pdf")

Cell = str | float | int | bool | None
Row = Mapping[str, Cell]


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing with what belongs to it.

    Parameters
    ----------
    name : str
        Stem of its files, and of its ids on the page: letters, digits and hyphens.
    title, caption : str
        A heading, and what to see and how to read it.
    alt : str
        What it shows, for those who do not see it.
    source : matplotlib.figure.Figure, or function without arguments that returns one
        What is seen; a function is called when the drawing is asked for, in the process that asks.
    rows : sequence of mappings, or polars.DataFrame
        The numbers in it, one mapping a row, all with the same keys; a frame where they are many.
    wide : bool
        Whether it needs the whole width of a page.

    Examples
    --------
    >>> from gnomon.plot.style import new_drawing
    >>> one = Figure("empty", "Nothing", "No data.", "nothing", new_drawing(2, 1), ({"x": 1},))
    >>> sorted(one.files())
    ['empty.csv', 'empty.svg']
    """

    name: str
    title: str
    caption: str
    alt: str
    source: Drawing | Callable[[], Drawing]
    rows: Sequence[Row] | pl.DataFrame
    wide: bool = False

    @cached_property
    def drawing(self) -> Drawing:
        """The drawing, made when it is first asked for."""
        if isinstance(self.source, Drawing):
            return self.source
        with default_settings():
            return self.source()

    def files(self, also: Sequence[str] = ()) -> dict[str, bytes]:
        """Return ``NAME.svg`` and ``NAME.csv`` and what they hold, and other formats if asked."""
        files = {f"{self.name}.{kind}": self.as_bytes(kind) for kind in ("svg", *also)}
        if not isinstance(self.source, Drawing):
            vars(self).pop("drawing", None)  # a hundred of them take a hundred megabytes
        return files | {f"{self.name}.csv": csv_text(self.rows).encode()}

    def save(self, folder: str | Path) -> tuple[Path, Path]:
        """Write ``NAME.svg`` and ``NAME.csv`` into a folder, and return their paths."""
        folder = Path(folder)
        write_together(folder, self.files())
        return folder / f"{self.name}.svg", folder / f"{self.name}.csv"

    def write(self, path: str | Path) -> None:
        """Write the drawing alone: as SVG, or as PNG or PDF if the file is called so.

        Raises
        ------
        ScoreDataError
            The name ends otherwise, or there is no such folder.
        """
        path = Path(path)
        kind = path.suffix.lower().removeprefix(".")
        if kind not in FORMATS:
            raise ScoreDataError(f"{path}: expected a name that ends in .svg, .png or .pdf")
        if not path.parent.is_dir():
            raise ScoreDataError(f"{path.parent}: expected a folder to write to; there is none")
        write_atomically(path, self.as_bytes(kind))

    def as_bytes(self, kind: str) -> bytes:
        """Return the drawing as a file of one of the `FORMATS`."""
        if kind == "svg":
            return self.svg.encode()
        out = io.BytesIO()
        # No date, so that the same drawing gives the same bytes.
        undated = {"CreationDate": None} if kind == "pdf" else {}
        with default_settings():
            self.drawing.savefig(out, format=kind, dpi=160, bbox_inches="tight", metadata=undated)
        return out.getvalue()

    @cached_property
    def svg(self) -> str:
        """The text of its SVG file."""
        return svg_text(self.drawing, self.name)

    def remember(self, files: Mapping[str, bytes]) -> None:
        """Take the text of the SVG file from what :meth:`files` returned in another process."""
        vars(self)["svg"] = files[f"{self.name}.svg"].decode()

    def html(self) -> str:
        """Return the drawing as an element for a page."""
        return inline_svg(self.svg, self.name, self.alt)


def csv_text(rows: Sequence[Row] | pl.DataFrame) -> str:
    """Return rows as CSV with a header; what does not exist is empty."""
    if isinstance(rows, pl.DataFrame):
        return rows.fill_nan(None).write_csv()
    out = io.StringIO()
    names = list(rows[0]) if rows else []
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    cells = ([row[name] for name in names] for row in rows)
    writer.writerows(["" if v is None or v != v else v for v in row] for row in cells)
    return out.getvalue()


def inline_svg(svg: str, name: str, alt: str) -> str:
    """Return the text of an SVG file as an element for an HTML page.

    Ids get the figure's name in front, since all inline drawings share one space of ids; the
    colours of the style become CSS variables; the size is left to the page.

    ``alt`` says what the figure shows, for those who do not see it.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", body)
    for light, (variable, _) in THEME.items():
        body = re.sub(rf"{light}\b", f"var(--{variable})", body, flags=re.IGNORECASE)
    head, _, rest = body.partition(">")
    view = re.search(r'viewBox="[^"]+"', head)
    attributes = f'{view.group() if view else ""} role="img" aria-labelledby="{name}-alt"'
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    title = f'<title id="{name}-alt">{html.escape(alt, quote=False)}</title>'
    return f"<svg {links} {attributes}>{title}{rest}"


def theme_css() -> str:
    """Return the style rules that give the colours of the drawings on light and on dark paper."""
    light = " ".join(f"--{name}: {color};" for color, (name, _) in THEME.items())
    dark = " ".join(f"--{name}: {color};" for name, color in THEME.values())
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
