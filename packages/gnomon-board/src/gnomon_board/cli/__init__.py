"""The command ``gnomon-board``."""

from __future__ import annotations

from gnomon.cli import Command

__all__ = ["COMMAND", "main"]

COMMAND = Command(
    "gnomon-board",
    "Serve a leaderboard that replays every score, and studies with people.",
    __name__,
    {
        "serve": "serving.serve",
        "worker": "serving.worker",
        "token": "serving.token",
        "season": "season.app",
        "study": "study.app",
        "register": "submitting.register",
        "submit": "submitting.submit",
        "backup": "serving.backup",
        "migrate": "serving.migrate",
    },
)


def main() -> None:
    """Run the command line."""
    COMMAND.run()
