"""How far a run is, as a bar on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gnomon.experiments.runner import Progress

__all__ = ["progress_bar"]


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show trials played and the time left; nothing, if nobody looks at standard error."""
    from rich import progress
    from rich.console import Console

    with progress.Progress(
        progress.TextColumn("trials"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    ) as bar:
        task = bar.add_task("trials", total=None)
        yield lambda n_played, n_to_play: bar.update(task, completed=n_played, total=n_to_play)
