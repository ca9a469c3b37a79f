"""The command line: one verb of the API each.

Data goes to standard output, progress and messages to standard error. The exit status is 0 for
done, 1 where the answer is no or a trial failed, and 2 for misuse or bad input. Whatever is heavy
is imported by the verb that needs it, so that ``gnomon --help`` comes at once.
"""

from __future__ import annotations

import gc
import io
import os
import sys
from typing import Annotated

import typer

from gnomon._version import __version__
from gnomon.cli import (
    atari5,
    distill,
    experiments,
    game,
    leaderboard,
    planning,
    ranking,
    rules,
    smaller_suite,
    statistics,
    study,
)
from gnomon.errors import GnomonError, visible

__all__ = ["app", "main"]

app = typer.Typer(
    name="gnomon",
    no_args_is_help=True,
    add_completion=False,
    # Plain help and plain tracebacks: no colours to suppress, and 50 ms saved.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(experiments.demo)
app.add_typer(rules.app, name="rules")
app.command()(experiments.run)
app.command()(experiments.status)
app.command()(experiments.export)
app.command()(experiments.score)
app.command()(statistics.estimate)
app.command()(statistics.compare)
app.command()(statistics.profile)
app.command()(statistics.histograms)
app.command()(statistics.curves)
app.command()(planning.plan)
app.command()(planning.tolerance)
app.command()(planning.sensitivity)
app.command(cls=ranking.RankCommand)(ranking.rank)
app.command()(ranking.rank_distribution)
app.command()(ranking.compare_pairs)
app.command()(ranking.orders_by_method)
app.command()(ranking.critical_difference)
app.command()(ranking.difficulty_classes)
app.command()(ranking.audit)
app.command(cls=smaller_suite.DistillCommand)(distill.distill)
app.add_typer(smaller_suite.app, name="suite")
app.add_typer(atari5.atari5, name="atari5")
app.command()(experiments.report)
app.command()(experiments.reproduce)
app.command()(experiments.verify)
app.command()(game.learners)
app.command()(game.play)
app.command(context_settings=game.CAPTIVE_CONTEXT)(game.captive)
app.command()(leaderboard.serve)
app.command()(leaderboard.register)
app.command()(leaderboard.submit)
leaderboard.app.add_typer(study.app, name="study")
app.add_typer(leaderboard.app, name="leaderboard")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def gnomon(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Measure learning agents: hidden rules, reliable statistics, honest ranks."""


def main() -> None:
    """Run the command line; an error that the user can mend is one line, without a traceback."""
    _ready_streams()
    # What a command loads stays. Looking through it for garbage at each 700 new objects, as Python
    # does, takes a tenth of the time of a short command.
    gc.set_threshold(50_000)
    try:
        app(prog_name="gnomon")
    except GnomonError as error:
        _fail(str(error))
    except OSError as error:
        what = error.strerror or str(error) or type(error).__name__
        _fail(": ".join(str(part) for part in (error.filename, what) if part))
    except KeyboardInterrupt:
        print("gnomon: stopped", file=sys.stderr)
        sys.exit(130)


def _ready_streams() -> None:
    """Make standard output something that can be written to, whatever it was left as."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a letter shows a question mark in its place.
        sys.stdout.reconfigure(errors="replace")


def _fail(message: str) -> None:
    print(f"gnomon: {visible(message)}", file=sys.stderr)
    sys.exit(2)
