"""A report as data, and as one page of HTML that needs nothing else."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from gnomon._version import __version__
from gnomon.errors import GnomonError, counted, either, joined
from gnomon.plot.figure import Figure, Row, numbers_as_csv, theme_css
from gnomon.printing import p_value, percent, value_in_brackets
from gnomon.text_files import try_folder, write_atomically, write_together

if TYPE_CHECKING:
    from gnomon.ranking import Ranking
    from gnomon.scores import ScoreTable

#: What a page of Gnomon has in its head.
_GENERATOR = b'<meta name="generator" content="Gnomon">'
#: The files beside a page, which it links.
_LINKED = re.compile(rb'href="((?:figures|tables)/[\w-]+\.(?:svg|csv|tex))"')
#: Names in a sentence, and notes at the top of a page.
MOST_NAMED, MOST_NOTES = 8, 12
#: A single-file page contains the numbers of a figure or table up to this number of characters.
_MOST_INSIDE = 300_000


@dataclass(frozen=True)
class Table:
    """A table: a heading, names of columns, and cells as they are printed.

    Parameters
    ----------
    title : str
        What it shows.
    columns : tuple of str
        Names of the columns; the first names the rows.
    rows : tuple of tuples of str
        The cells.
    caption : str
        How to read it.
    name : str
        Stem of the file of its numbers, if it has one.
    numbers : sequence of mappings
        The numbers behind its cells, one mapping per row, all with the same keys.
    latex : str
        The table for a paper, if there is one.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    name: str = ""
    numbers: Sequence[Row] = ()
    latex: str = ""


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the report under its own heading.

    Parameters
    ----------
    name : str
        Its anchor on the page.
    title : str
        Its heading.
    text : tuple of str
        Paragraphs.
    tables : tuple of Table
    figures : tuple of Figure
    listings : tuple of (str, str)
        Titles and texts that are shown letter by letter, such as rules.
    """

    name: str
    title: str
    text: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    listings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Answer:
    """What the report answers first: a question, and sentences that answer it."""

    question: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A report as data; :meth:`save` makes a page of it.

    Parameters
    ----------
    title, subtitle : str
        What was run.
    answers : tuple of Answer
        What a reader wants to know first.
    notices : tuple of str
        What a reader must know before believing the rest.
    sections : tuple of Section
        The parts, in order.
    card : tuple of (str, str)
        How it was made: names and values.
    source : str
        What all numbers follow from, besides the seeds.
    """

    title: str
    subtitle: str
    answers: tuple[Answer, ...]
    sections: tuple[Section, ...]
    notices: tuple[str, ...] = ()
    card: tuple[tuple[str, str], ...] = field(default=())
    source: str = "the run folder"

    @property
    def figures(self) -> tuple[Figure, ...]:
        """All figures, in the order of the page."""
        return tuple(figure for section in self.sections for figure in section.figures)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables that have numbers, in the order of the page."""
        found = (table for section in self.sections for table in section.tables)
        return tuple(table for table in found if table.numbers)

    def save(self, place: str | os.PathLike[str]) -> Path:
        """Write the page into a folder, alone, or as Markdown, by the ending of a name.

        All files are written, or if something goes wrong, none.

        Parameters
        ----------
        place : path
            A folder for ``report.html``, ``figures/`` (SVG and CSV files) and ``tables/`` (CSV and
            LaTeX files); or a name that ends in ``.html``, for the page alone, or in ``.md``.

        Returns
        -------
        Path
            Where the page is.

        Raises
        ------
        GnomonError
            The folder holds a file of one of these names that is not of an earlier report.
        OSError
            The place cannot be written to.
        """
        path = Path(place)
        if path.suffix.lower() in (".html", ".md"):
            from gnomon.reports.markdown import report_markdown

            is_page = path.suffix.lower() == ".html"
            text = report_html(self, alone=True) if is_page else report_markdown(self)
            try_place(path)
            write_atomically(path, text.encode())
            return path
        page = report_html(self).encode()  # before the files, which drop each drawing
        files = {
            f"figures/{name}": data
            for figure in self.figures
            for name, data in figure.files().items()
        }
        files |= {f"tables/{t.name}.csv": numbers_as_csv(t.numbers).encode() for t in self.tables}
        files |= {f"tables/{t.name}.tex": t.latex.encode() for t in self.tables if t.latex}
        files["report.html"] = page
        former = refuse_foreign(path, files)
        write_together(path, files)
        for name in former - files.keys():
            (path / name).unlink(missing_ok=True)
        return path / "report.html"


def sentence(text: str) -> str:
    """Return a text with a full stop at its end."""
    return text if text.endswith(".") else f"{text}."


def report_of(
    table: ScoreTable,
    title: str,
    subtitle: str,
    answers: Sequence[Answer],
    sections: Sequence[Section],
    warnings: Iterable[str],
    *,
    level: float,
    seed: int,
    card: Mapping[str, str],
) -> Report:
    """Return the page of a table, its warnings without repetitions and not too many of them."""
    notes = [*dict.fromkeys(warnings)]
    if len(notes) > MOST_NOTES:
        more = counted(len(notes) - MOST_NOTES, "more note")
        notes[MOST_NOTES:] = [f"{more}: {either('audit(scores)', 'gnomon audit')} prints them."]
    made = {"provenance": joined(table.provenance) or "not recorded", **card}
    made |= {"confidence level": percent(level), "seed": str(seed), "gnomon": __version__}
    return Report(
        title=title,
        subtitle=subtitle,
        answers=tuple(answers),
        sections=tuple(sections),
        notices=tuple(notes),
        card=tuple(made.items()),
        source="the table of scores",
    )


def best_text(ranking: Ranking, kind: str) -> str:
    """Return which algorithm is best, or which may be."""
    at = [i for i, one in enumerate(ranking) if one.rank_low == 1]
    first, n = [ranking.names[i] for i in at], len(ranking.names)
    if len(first) == 1:
        others = ranking.names[1] if n == 2 else f"all others ({counted(n, kind)})"
        return f"{first[0]} is significantly better than {others}."
    shown = first if len(first) <= MOST_NAMED else [*first[:MOST_NAMED], "another"]
    p = ranking.p_adjusted[np.ix_(at, at)][np.triu_indices(len(at), 1)]
    why = _untested(p) or "they are not significantly different"
    return f"{joined(shown, 'or')} may be the best of {counted(n, kind)}: {why}."


def order_answers(ranking: Ranking, settled: str) -> tuple[Answer, ...]:
    """Return how many pairs of the order may be noise, and what would separate the first two."""
    n, p, alpha = len(ranking.names), ranking.p_adjusted, 1.0 - ranking.level
    answer = Answer("What would settle the top?", (sentence(settled),))
    if n < 3:
        return (answer,)
    every, unsure = p[np.triu_indices(n, 1)], np.count_nonzero(np.diag(p, 1) > alpha)
    pairs, all_unsure = every.size, np.count_nonzero(every > alpha)
    said, untested = [], _untested(every)
    if all_unsure:
        said.append(
            f"{unsure} of {n - 1} adjacent pairs ({unsure / (n - 1):.0%}) and {all_unsure:,} of "
            f"all {pairs:,} pairs ({all_unsure / pairs:.0%}) are not significantly different."
        )
    elif not untested:
        said.append(f"All {pairs:,} pairs are significantly different.")
    if untested:
        said.append(sentence(untested.capitalize()))
    return Answer("How much of the order may be noise?", tuple(said)), answer


def _untested(p: npt.NDArray[np.float64]) -> str:
    """Return how many of some pairs have no p-value; nothing if all have one."""
    n = np.count_nonzero(np.isnan(p))
    if n == p.size:
        return "no pair could be tested"
    return f"{n:,} of {p.size:,} pairs could not be tested" if n else ""


def cell(value: float, low: float, high: float, **missing: str) -> str:
    """Return a number with its interval, which no line break separates."""
    return (
        value_in_brackets(value, low, high, **missing).replace(" [", "\xa0[").replace(", ", ",\xa0")
    )


def ahead(one: Any, higher_is_better: bool) -> tuple[str, str, tuple[float, float, float]]:
    """Return the better of a pair, the other, and by how much with the ends of the interval."""
    names = (one.a, one.b) if (one.value >= 0.0) == higher_is_better else (one.b, one.a)
    ends = (one.low, one.high) if one.value >= 0.0 else (-one.high, -one.low)
    return (*names, (abs(one.value), *ends))


def p_text(one: Any, n_pairs: int) -> str:
    """Return the p-value of a pair, with the corrected one where there are several pairs."""
    if math.isnan(one.p_value):
        return "not tested"
    text = f"p {p_value(one.p_value, '= ')}"
    if n_pairs > 1:
        text += f"; {p_value(one.p_adjusted)} after correction over {counted(n_pairs, 'pair')}"
    return text


def report_html(report: Report, *, alone: bool = False) -> str:
    """Return a report as the text of a page, with style and drawings inside it.

    All texts are escaped. A page that stands `alone`, without files of figures, has their numbers.
    """
    drawings = {}
    for figure in report.figures:
        drawings[figure.name] = Markup(figure.html())
        vars(figure).pop("drawing", None)  # a hundred of them take a hundred megabytes
    inside = {}
    if alone:
        texts = {f"figures/{figure.name}.csv": figure.rows for figure in report.figures}
        texts |= {f"tables/{table.name}.csv": table.numbers for table in report.tables}
        inside = {name: f"data:text/csv,{quote(numbers_as_csv(x))}" for name, x in texts.items()}
        for table in report.tables:
            inside[f"tables/{table.name}.tex"] = f"data:text/x-tex,{quote(table.latex)}"
        inside = {name: address for name, address in inside.items() if len(address) <= _MOST_INSIDE}
    return _template().render(
        report=report,
        drawings=drawings,
        alone=alone,
        inside=inside,
        theme=Markup(theme_css()),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("gnomon.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2")


def try_place(out: str | os.PathLike[str]) -> None:
    """Refuse a place that a report could not be written to, before it is computed.

    Folders are tried by a small file, which is removed; an OSError means that one cannot be
    written to or has no room.

    Examples
    --------
    >>> try_place("no-such-folder/report.html")
    Traceback (most recent call last):
    gnomon.errors.GnomonError: no-such-folder: expected a folder to write to; there is none
    """
    place = Path(out)
    folders = [place, place / "figures", place / "tables"]
    if place.suffix.lower() in (".html", ".md"):
        if not place.parent.is_dir():
            raise GnomonError(f"{place.parent}: expected a folder to write to; there is none")
        if place.is_dir():
            raise GnomonError(f"{place}: expected the name of a page to write; it is a folder")
        folders = [place.parent]
    elif place.is_file():
        raise GnomonError(f"{place}: expected a folder to write to; it is a file")
    elif not place.is_dir() and place.suffix[1:].isalpha():  # and no version
        raise GnomonError(f"{place}: expected a folder, or a name that ends in .html or .md")
    else:
        refuse_foreign(place, ["report.html"])
    for folder in folders:
        try_folder(folder)


def refuse_foreign(folder: Path, names: Iterable[str]) -> set[str]:
    """Return the files that an earlier report in the folder links, if there is one.

    Raise GnomonError if files of a report would overwrite others than an earlier report's.
    """
    page = folder / "report.html"
    if page.is_file() and _GENERATOR in (text := page.read_bytes())[:2000]:
        return {name.decode() for name in _LINKED.findall(text)}
    for name in names:
        if (folder / name).exists():
            raise GnomonError(
                f"{folder / name} exists and is not part of a report; choose another folder"
            )
    return set()
