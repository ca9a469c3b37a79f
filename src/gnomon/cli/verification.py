"""``gnomon verify``: whether a run is what it claims to be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering

__all__ = ["verify"]


def verify(
    run: Annotated[Path, typer.Argument(help="A run folder; or a log, with --assignment.")],
    assignment: Annotated[
        Path | None,
        typer.Option(help="The config that a leaderboard assigned; it must have been played."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play every attempt of a run again, and say where it differs from what the run tells."""
    from gnomon.leaderboard.verification.verification import verify as verified

    with answering("verify", as_json=as_json) as answer:
        found = verified(run, assignment=assignment)
        answer.show(found)
    raise typer.Exit(0 if found.ok else 1)
