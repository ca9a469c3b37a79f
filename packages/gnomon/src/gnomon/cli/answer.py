"""Output of a verb: a table for people or one JSON object for programs, and its progress."""

from __future__ import annotations

import json
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Annotated, Any

import typer

from gnomon._version import __version__
from gnomon.cli.command import message
from gnomon.cli.sources import is_read
from gnomon.errors import GnomonWarning, ScoreDataError, on_command_line, visible
from gnomon.printing import text_table
from gnomon.results import Results, finite_or_none

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Record = Mapping[str, Any]
#: Progress of work that takes less is not shown.
_SHORT_S = 2.0


class Answer:
    """Collects the output of a verb; :func:`answering` prints the JSON object in the end."""

    def __init__(
        self, command: str, *, as_json: bool, latex: bool = False, figure: Path | None = None
    ) -> None:
        self._command = command
        self._latex, self._figure = latex, figure
        #: Whether the answer is one JSON object.
        self.as_json = as_json
        self._results: list[Record] = []
        self._warnings: list[str] = []
        self._after_table = False
        #: Warnings of the results that were shown; each is printed once, at the end.
        self.noted: list[str] = []

    def show(self, results: Results[Any]) -> None:
        """Give results: a table or LaTeX for people, records for programs, a figure in a file.

        Their warnings are printed once, with those raised; the figure is written first.
        """
        figure = self._figure
        if figure is not None and results.drawn_by is None:
            raise typer.BadParameter(f"--figure: these results of {self._command} have no figure")
        if figure is not None and results:
            results.figure().write(figure)
        self._results.extend(results.as_records())
        self.noted.extend(results.warnings)
        if results and not self.as_json:
            self._print(
                results.to_latex() if self._latex else results.to_text(_width()), table=True
            )
        if figure is not None:
            self.say(f"written to {figure}" if results else f"nothing to draw: no {figure} written")

    def records(
        self, records: Sequence[Record], columns: Sequence[str] = (), *, title: str | None = None
    ) -> None:
        """Give results; people see the named columns (all of them, if none is named)."""
        self._results.extend(records)
        if records and not self.as_json:
            self.table(records, columns or list(records[0]), title=title)

    def table(
        self, rows: Sequence[Record], columns: Sequence[str], *, title: str | None = None
    ) -> None:
        """Show people a table of what programs find in the results."""
        if rows and not self.as_json:
            self._print(text_table(rows, columns, title=title, width=_width()), table=True)

    def results(self, records: Sequence[Record]) -> None:
        """Add results whose text is printed otherwise."""
        self._results.extend(records)

    def say(self, text: str) -> None:
        """Print a text whose content is in the results too."""
        if not self.as_json:
            self._print(visible(text))

    def _print(self, text: str, *, table: bool = False) -> None:
        """Print a text; a blank line separates a table from what follows."""
        print(f"\n{text}" if self._after_table else text)
        self._after_table = table

    def warn(self, text: str) -> None:
        """Print a warning."""
        self._warnings.append(text)
        if not self.as_json:
            message(visible(text))

    def print_json(self) -> None:
        """Print the whole answer, if it is wanted as JSON."""
        if self.as_json:
            whole = {
                "gnomon": __version__,
                "command": self._command,
                "results": finite_or_none(self._results),
                "warnings": self._warnings,
            }
            text = json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False)
            print(_UNPRINTABLE.sub(lambda found: json.dumps(found.group())[1:-1], text))


@contextmanager
def answering(
    command: str,
    *,
    as_json: bool,
    latex: bool = False,
    figure: Path | None = None,
    reads: Iterable[str | Path | None] = (),
    writes: Iterable[Path | None] = (),
) -> Iterator[Answer]:
    """Answer a verb; Gnomon's own warnings become part of the answer.

    `figure` and `writes` are files that the verb writes: refused before the work if they cannot be
    written, or are among the sources that it `reads`.
    """
    if latex and as_json:
        raise typer.BadParameter("--latex cannot be combined with --json")
    if figure is not None and figure.suffix.lower() not in (".svg", ".png", ".pdf"):
        raise ScoreDataError(f"{figure}: expected a name that ends in .svg, .png or .pdf")
    sources = [str(source) for source in reads if source is not None]
    for path in (figure, *writes):
        if path is not None:
            _check_writable(path, sources)
    answer = Answer(command, as_json=as_json, latex=latex, figure=figure)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GnomonWarning)
        with on_command_line():
            try:
                yield answer
            except KeyboardInterrupt:  # typer would exit without a word
                message("stopped")
                raise typer.Exit(130) from None
    raised = []
    for w in caught:
        if issubclass(w.category, GnomonWarning):
            raised.append(str(w.message))
        else:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
    for text in dict.fromkeys([*raised, *answer.noted]):
        answer.warn(text)
    answer.print_json()


def _check_writable(path: Path, sources: Sequence[str]) -> None:
    """Refuse a file that could not be written to, or would overwrite what is read."""
    if path.is_dir():
        raise ScoreDataError(f"{path}: expected the name of a file to write; it is a folder")
    if not path.parent.is_dir():
        raise ScoreDataError(f"{path.parent}: expected a folder to write to; there is none")
    if is_read(path, sources):
        raise ScoreDataError(f"{path}: expected another file than the source, not to overwrite it")


#: What JSON may hold as it is, and a terminal would obey; it may hold it escaped as well.
_UNPRINTABLE = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _width() -> int:
    """Return the columns of the terminal; a pipe gets whole lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


@contextmanager
def bar_of(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show the progress of work that takes more than two seconds, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn(what),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # The mean pace of the work so far: many pieces may end in one batch.
        speed_estimate_period=86_400,
    )
    task = bar.add_task(what, total=None)
    begin = Timer(_SHORT_S, bar.start)  # also within the first piece of work
    begin.daemon = True
    begin.start()
    try:
        yield lambda done, total: bar.update(task, completed=done, total=total)
    finally:
        begin.cancel()
        begin.join()
        bar.stop()
