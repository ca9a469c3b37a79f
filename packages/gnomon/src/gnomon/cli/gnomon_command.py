"""The verbs of the command ``gnomon``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.cli.command import Command

if TYPE_CHECKING:
    import typer

    app: typer.Typer

COMMAND = Command(
    "gnomon",
    "Statistics of benchmark results: estimates, comparisons, ranks, smaller suites, reports.",
    "gnomon.cli",
    {
        "read": "reading.read",
        "estimate": "statistics.estimate",
        "compare": "statistics.compare",
        "rank": "ranking.rank",
        "profile": "statistics.profile",
        "curves": "statistics.curves",
        "plan": "statistics.plan",
        "audit": "ranking.audit",
        "distill": "distill.distill",
        "predict": "distill.predict",
        "report": "reports.report",
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
