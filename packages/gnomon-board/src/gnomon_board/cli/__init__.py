"""The command ``gnomon-board``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli import Command

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["COMMAND", "app", "main"]

COMMAND = Command(
    "gnomon-board",
    "Serve a leaderboard that replays every score, and studies with people.",
    __name__,
    {
        "serve": "serving.serve",
        "worker": "serving.worker",
        "token": "serving.token",
        "season": "seasons.app",
        "study": "study.app",
        "register": "submitting.register",
        "submit": "submitting.submit",
        "backup": "serving.backup",
        "migrate": "serving.migrate",
    },
)


def __getattr__(name: str) -> typer.Typer:
    """Return ``app``, the whole command line, made when it is needed."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = whole = COMMAND.application()
    return whole


def main() -> None:
    """Run the command line."""
    COMMAND.run()
