"""Progress of long work on standard error, and who does the pieces of a search."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

import typer

from gnomon.cli.command import message
from gnomon.errors import ScoreDataError

if TYPE_CHECKING:
    import rich.progress

    from gnomon.distillation.search import Progress

#: What takes less is not worth a word.
_SHORT_S = 2.0


def check_writable(path: Path | None) -> Path | None:
    """Refuse a file that could not be written to, before the work and not after it."""
    if path is None:
        return None
    if path.is_dir():
        raise ScoreDataError(f"{path}: expected the name of a file to write; it is a folder")
    if not path.parent.is_dir():
        raise ScoreDataError(f"{path.parent}: expected a folder to write to; there is none")
    return path


@contextmanager
def progress_bar(what: str) -> Iterator[Progress]:
    """Show how far a search is; Ctrl-C ends it, and the program, with a word."""
    try:
        with bar_of(what) as update:
            yield update
    except KeyboardInterrupt:
        message("stopped; nothing was written")
        raise typer.Exit(130) from None


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
        progress.RenderableColumn(left := TimeLeft()),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(what, total=None)

    def update(done: int, total: int) -> None:
        left.report(done, total)
        bar.update(task, completed=done, total=total)

    with _shown_late(bar):
        yield update


@dataclass
class TimeLeft:
    """Time that some work has left, at its mean pace since the first report.

    Pieces may be done many at once, seconds or minutes apart: rich's own column takes the pace of
    the last seconds, in which a batch was reported, and predicts one second for ten minutes.

    Examples
    --------
    >>> left = TimeLeft()
    >>> left.report(0, 75)
    >>> left.__rich__()
    'left -:--:--'
    """

    _first: tuple[float, int] = (math.nan, 0)
    _before: int = 0
    _ends: float = math.nan

    def report(self, done: int, total: int) -> None:
        """Take note of how much is done of how much; less than before begins another work."""
        now = time.monotonic()
        if math.isnan(self._first[0]) or done < self._before:
            self._first = now, done
        self._before = done
        begun, there = self._first
        pace = (now - begun) / (done - there) if done > there else math.nan
        self._ends = now + pace * (total - done)

    def __rich__(self) -> str:
        """Return the time left as hours, minutes and seconds."""
        if math.isnan(self._ends):
            return "left -:--:--"
        seconds = math.ceil(max(0.0, self._ends - time.monotonic()))
        return f"left {timedelta(seconds=seconds)}"


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show what is being done and the time elapsed, where progress is unknown."""
    if not sys.stderr.isatty():
        yield
        return
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn(what),
        progress.TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(what, total=None)
    with _shown_late(bar):
        yield


@contextmanager
def _shown_late(bar: rich.progress.Progress) -> Iterator[None]:
    """Show a bar once there is something to wait for, also within the first piece of work."""
    begin = Timer(_SHORT_S, bar.start)
    begin.daemon = True
    begin.start()
    try:
        yield
    finally:
        begin.cancel()
        begin.join()
        bar.stop()
