"""A figure: panels in one frame with a caption, an alternative text and the numbers."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from gnomon.errors import ScoreDataError
from gnomon.plot.style import (
    HALF_WIDTH,
    INK,
    SIZE,
    THEME,
    default_settings,
    dress,
    new_drawing,
    svg_text,
)
from gnomon.text_files import write_atomically

T = TypeVar("T")
Cell = str | float | int | bool | None
Row = Mapping[str, Cell | list[Any]]
#: Numbers behind a drawing: one mapping per row, or, for long ones, one sequence per column.
Numbers = Sequence[Row] | Mapping[str, Sequence[Cell] | npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Figure:
    """A drawing with its caption, its alternative text and its numbers.

    Parameters
    ----------
    name : str
        Stem of its files, and of its ids on a page: letters, digits and hyphens.
    title, caption : str
        A heading, and how to read the drawing.
    alt : str
        What it shows, for readers who cannot see it.
    source : matplotlib.figure.Figure, or function without arguments that returns one
        The drawing; a function is called when the drawing is needed.
    rows : sequence of mappings, or mapping of columns
        The numbers: one mapping per row, all with the same keys, or one sequence per column.
    wide : bool
        Whether it needs the whole width of a page.

    Examples
    --------
    >>> import gnomon as gn
    >>> scores = gn.ScoreTable.from_arrays({"a": [[1, 2], [2, 4]], "b": [[3, 4], [5, 5]]})
    >>> sorted(gn.estimate(scores, "mean").figure().files())
    ['estimates.csv', 'estimates.svg']
    """

    name: str
    title: str
    caption: str
    alt: str
    source: Drawing | Callable[[], Drawing]
    rows: Numbers
    wide: bool = False

    @cached_property
    def drawing(self) -> Drawing:
        """The Matplotlib figure, made when it is first needed."""
        if isinstance(self.source, Drawing):
            return self.source
        with default_settings():
            return self.source()

    def files(self) -> dict[str, bytes]:
        """Return ``NAME.svg`` and ``NAME.csv`` with their contents."""
        files = {f"{self.name}.svg": self.svg.encode()}
        vars(self).pop("svg")
        vars(self).pop("drawing", None)  # a hundred of them take a hundred megabytes
        return files | {f"{self.name}.csv": numbers_as_csv(self.rows).encode()}

    def write(self, path: str | Path) -> None:
        """Write the drawing alone, as SVG, PNG or PDF by the ending of the name.

        Raises
        ------
        ScoreDataError
            The name has another ending, or there is no such folder.
        """
        path = Path(path)
        kind = path.suffix.lower().removeprefix(".")
        if kind not in ("svg", "png", "pdf"):
            raise ScoreDataError(f"{path}: expected a name that ends in .svg, .png or .pdf")
        if not path.parent.is_dir():
            raise ScoreDataError(f"{path.parent}: expected a folder to write to; there is none")
        out = io.BytesIO(svg_text(self.drawing, self.name).encode() if kind == "svg" else b"")
        if kind != "svg":
            # No date, so that the same drawing gives the same bytes.
            undated = {"CreationDate": None} if kind == "pdf" else {}
            with default_settings():
                self.drawing.savefig(
                    out, format=kind, dpi=160, bbox_inches="tight", metadata=undated
                )
        write_atomically(path, out.getvalue())

    @cached_property
    def svg(self) -> str:
        """The text of its SVG file."""
        return svg_text(self.drawing, self.name)

    def html(self) -> str:
        """Return the drawing as an element of an HTML page.

        The figure's name is put before each id, because all drawings on a page share their ids; the
        colours of the style become CSS variables; the page sets the size.
        """
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r'\bid="([^"]+)"', rf'id="{self.name}-\1"', body)
        body = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{self.name}-", body)
        body = re.sub(r"#[0-9a-fA-F]{6}\b", _themed, body)
        head, _, rest = body.partition(">")
        view = re.search(r'viewBox="[^"]+"', head)
        links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        role = f'role="img" aria-labelledby="{self.name}-alt"'
        title = f'<title id="{self.name}-alt">{html.escape(self.alt, quote=False)}</title>'
        return f"<svg {links} {view.group() if view else ''} {role}>{title}{rest}"


def _themed(color: re.Match[str]) -> str:
    """Return a colour of the style as a CSS variable, and any other as it is."""
    variable, _ = THEME.get(color[0].lower(), ("", ""))
    return f"var(--{variable})" if variable else color[0]


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: the function that draws it, its title, and its height in inches."""

    draw: Callable[[Axes], object]
    title: str = ""
    height: float = 3.9


def frame(
    panels: Sequence[Panel],
    ax: Axes | None = None,
    *,
    name: str,
    title: str,
    caption: str,
    alt: str,
    rows: Numbers,
    columns: int = 1,
    width: float = HALF_WIDTH,
    share_x: bool = False,
    share_y: bool = False,
    wide: bool = False,
) -> Figure | Axes:
    """Return a figure of panels side by side; or draw the only panel into given axes.

    Parameters
    ----------
    panels : sequence of Panel
    ax : matplotlib.axes.Axes, optional
        Axes for the only panel; these are returned then.
    name, title, caption, alt, rows, wide
        As in :class:`Figure`.
    columns : int
        Panels in a row.
    width : float
        Width of the whole figure, in inches.
    share_x, share_y : bool
        Whether all panels have one scale.

    Raises
    ------
    ValueError
        Axes are given for several panels.

    Examples
    --------
    >>> panel = Panel(lambda ax: ax.plot([1, 2], [3, 5]))
    >>> found = frame(
    ...     [panel], name="line", title="A line", caption="Two points.", alt="A line.", rows=[]
    ... )
    >>> found.name, len(found.drawing.axes)
    ('line', 1)
    """
    if ax is not None:
        if len(panels) > 1:
            raise ValueError(
                f"expected one panel for given axes, found {len(panels)}; choose one by where(...)"
            )
        _draw(panels[0], ax)
        return ax

    def source() -> Drawing:
        lines = [panels[i : i + columns] for i in range(0, len(panels), columns)]
        heights = [max(panel.height for panel in line) for line in lines]
        drawing = new_drawing(width, sum(heights))
        grid = drawing.subplots(
            len(lines), columns, height_ratios=heights, sharex=share_x, sharey=share_y,
            squeeze=False,
        )  # fmt: skip
        axes = list(grid.ravel())
        for empty in axes[len(panels) :]:
            empty.remove()
        for panel, own in zip(panels, axes, strict=False):
            _draw(panel, own)
        return drawing

    return Figure(name, title, caption, alt, source, rows, wide)


def _draw(panel: Panel, ax: Axes) -> None:
    dress(ax)
    panel.draw(ax)
    if panel.title:
        ax.set_title(panel.title, loc="left", fontsize=SIZE + 1, color=INK)


def drawn(items: Sequence[T], most: int) -> tuple[Sequence[T], str]:
    """Return the first items, and a sentence for the caption if there are more."""
    part = items[:most]
    some = f" The first {most} of {len(items)} are drawn."
    return part, some if len(items) > most else ""


def numbers_as_csv(rows: Numbers) -> str:
    """Return numbers as CSV with a header; a missing number is an empty cell.

    Blanks separate the items of a list.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if isinstance(rows, Mapping):
        writer.writerow(rows)
        # Numbers of Python are written several times as fast as those of NumPy.
        columns = [x.tolist() if isinstance(x, np.ndarray) else x for x in rows.values()]
        writer.writerows(zip(*columns, strict=True))
        return out.getvalue()
    names = dict.fromkeys(name for row in rows for name in row)  # a record leaves out what it lacks
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in rows)
    return out.getvalue()


def _cell(value: Cell | list[Any]) -> Cell:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None or value != value else value


def theme_css() -> str:
    """Return the CSS variables of the colours, for light and for dark pages."""
    light = " ".join(f"--{name}: {color};" for color, (name, _) in THEME.items())
    dark = " ".join(f"--{name}: {color};" for name, color in THEME.values())
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
