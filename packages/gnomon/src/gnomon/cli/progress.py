"""Progress of long work on standard error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import typer

from gnomon.cli.command import message

if TYPE_CHECKING:
    import rich.progress

    from gnomon.distillation.search import Progress

#: What takes less is not worth a word.
_SHORT_S = 2.0


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
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        # The mean pace of the work so far: many pieces may end in one batch.
        speed_estimate_period=86_400,
    )
    task = bar.add_task(what, total=None)

    def update(done: int, total: int) -> None:
        bar.update(task, completed=done, total=total)

    with _shown_late(bar):
        yield update


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
