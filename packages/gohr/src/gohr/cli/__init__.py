"""The command ``gohr``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli import Command

if TYPE_CHECKING:
    import typer

    app: typer.Typer

__all__ = ["COMMAND", "app", "main"]

COMMAND = Command(
    "gohr",
    "The Game of Hidden Rules: rules, boards, learners and experiments.",
    __name__,
    {
        "demo": "experiments.demo",
        "rules": "rules.app",
        "play": "game.play",
        "captive": "game.captive",
        "learners": "game.learners",
        "run": "experiments.run",
        "status": "experiments.status",
        "score": "scoring.score",
        "elements": "scoring.elements",
        "induction": "induction.induction",
        "verify": "experiments.verify",
        "report": "experiments.report",
    },
    {"captive": ("context_settings", "game.CAPTIVE_CONTEXT")},
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
