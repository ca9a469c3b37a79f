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
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from gnomon._version import __version__
from gnomon.errors import GnomonError, visible

if TYPE_CHECKING:
    app: typer.Typer

__all__ = ["app", "main"]

#: Each verb, in the order of the help, and where it stands. A verb of verbs is an ``app`` there.
_VERBS = {
    "demo": "experiments.demo",
    "rules": "rules.app",
    "run": "experiments.run",
    "status": "experiments.status",
    "score": "scoring.score",
    "estimate": "statistics.estimate",
    "compare": "statistics.compare",
    "profile": "statistics.profile",
    "curves": "statistics.curves",
    "plan": "planning.plan",
    "rank": "ranking.rank",
    "critical-difference": "ranking.critical_difference",
    "audit": "ranking.audit",
    "distill": "distill.distill",
    "predict": "predict.predict",
    "report": "reports.report",
    "verify": "experiments.verify",
    "learners": "game.learners",
    "play": "game.play",
    "captive": "game.captive",
    "serve": "leaderboard.serve",
    "register": "submitting.register",
    "submit": "submitting.submit",
    "leaderboard": "study.leaderboard",
}
#: What the parser of a verb is told beside its options: a keyword, and where the value stands.
_PARSING = {
    "captive": ("context_settings", "game.CAPTIVE_CONTEXT"),
}


class _Verbs(typer.core.TyperGroup):
    """The verbs, whose ``--help`` that was not given loads no parser of values."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the option, which is False if it is not given, where typer's is None."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


def application(*verbs: str) -> typer.Typer:
    """Return the command line with some verbs, or with all of them: each costs a millisecond."""
    made = typer.Typer(
        name="gnomon",
        cls=_Verbs,
        no_args_is_help=True,
        add_completion=False,
        # Plain help and plain tracebacks: no colours to suppress, and 50 ms saved.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(gnomon)
    for verb in verbs or _VERBS:
        found = _named(_VERBS[verb])
        if isinstance(found, typer.Typer):
            made.add_typer(found, name=verb, cls=_Verbs)
            for inner in found.registered_groups:
                inner.cls = _Verbs
            continue
        keyword, place = _PARSING.get(verb, ("", ""))
        made.command(verb, **({keyword: _named(place)} if keyword else {}))(found)
    return made


def _named(place: str) -> Any:
    module, _, name = place.partition(".")
    return getattr(import_module(f"{__name__}.{module}"), name)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def gnomon(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Measure learning agents: hidden rules, reliable statistics, honest ranks."""


def __getattr__(name: str) -> typer.Typer:
    """Return ``app``, the whole command line, made when it is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = whole = application()
    return whole


def main() -> None:
    """Run the command line; an error that the user can mend is one line, without a traceback."""
    _ready_streams()
    # What a command loads stays. Looking through it for garbage at each 700 new objects, as Python
    # does, takes a tenth of the time of a short command.
    gc.set_threshold(50_000)
    # Matrices here have some hundred columns: a second thread of the linear algebra waits for the
    # first, and costs half as much again. Read when NumPy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # Only the verb that is asked for is made, if there is such a verb.
        application(*[word for word in sys.argv[1:2] if word in _VERBS])(prog_name="gnomon")
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
