"""A command of several verbs: what ``gnomon``, ``gohr`` and ``gnomon-board`` have in common.

Results go to standard output, progress and messages to standard error. The exit status is 0 for
done, 1 where the answer is no or a trial failed, 2 for misuse or bad input, and 141 where the
reader of a pipe has gone. A verb is imported
when it is needed, so that ``--help`` appears at once.
"""

from __future__ import annotations

import gc
import inspect
import io
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
import typer.core

from gnomon._version import __version__
from gnomon.errors import GnomonError, visible

if TYPE_CHECKING:
    app: typer.Typer

#: As if the signal had ended it.
_SIGPIPE = 141
#: A wrong word on the command line: click's UsageError, of which typer has a copy.
_Misuse: Any = typer.BadParameter.__base__
_Missing: Any = sys.modules[_Misuse.__module__].MissingParameter


class _Verbs(typer.core.TyperGroup):
    """A group of verbs that loads no parser of values where ``--help`` is not given."""

    def get_help_option(self, ctx: Any) -> Any:
        """Return the help option with the default False instead of typer's None."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.default = False
        return option


@dataclass(frozen=True)
class Command:
    """A command and its verbs, each loaded when it is needed.

    Parameters
    ----------
    name : str
        The name of the command, as it is typed.
    summary : str
        The first sentence of its help.
    package : str
        The package that the places of the verbs are relative to.
    verbs : mapping of str to str
        The place of each verb, ``"module.function"``, in the order of the help. A verb that has
        verbs itself is a typer application.
    parsing : mapping of str to (str, str)
        Arguments for the parser of a verb: a keyword of typer's, and the place of its value.

    Examples
    --------
    >>> from gnomon.cli import COMMAND
    >>> COMMAND.name, "estimate" in COMMAND.verbs
    ('gnomon', True)
    """

    name: str
    summary: str
    package: str
    verbs: Mapping[str, str]
    parsing: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def application(self, *verbs: str) -> typer.Typer:
        """Return the typer application of some verbs, or of all."""
        made = typer.Typer(
            name=self.name,
            cls=_Verbs,
            no_args_is_help=True,
            add_completion=False,
            # Plain help and plain tracebacks: no colours to suppress, and 50 ms saved.
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        made.callback(help=self.summary)(_root)
        for verb in verbs or self.verbs:
            found = self._at(self.verbs[verb])
            if isinstance(found, typer.Typer):
                made.add_typer(found, name=verb, cls=_Verbs)
                for inner in found.registered_groups:
                    inner.cls = _Verbs
                for one in found.registered_commands:
                    one.help = _help_of(one.callback)
                continue
            keyword, place = self.parsing.get(verb, ("", ""))
            keywords = {keyword: self._at(place)} if keyword else {}
            made.command(verb, help=_help_of(found), **keywords)(found)
        return made

    def run(self) -> None:
        """Run the command on ``sys.argv``; an error of the user's input is one line, status 2."""
        _prepare_streams()
        # Messages begin with it, also under ``python -m``.
        sys.argv[0] = self.name
        # Collecting garbage after each 700 new objects, Python's default, would take a tenth of
        # the time of a short command.
        gc.set_threshold(50_000)
        # Matrices have some hundred columns here: a second thread of the linear algebra costs
        # more than it saves. Read when NumPy is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        try:
            asked = [word for word in sys.argv[1:2] if word in self.verbs]
            status = self.application(*asked)(prog_name=self.name, standalone_mode=False)
            sys.stdout.flush()
            sys.exit(status)
        except GnomonError as error:
            self._fail(str(error))
        except _Misuse as error:
            text = error.format_message()
            if "\n" not in text:
                verb = error.ctx.command_path if error.ctx else self.name
                if isinstance(error, _Missing) and error.param.param_type_name == "argument":
                    words = [_word(each) for each in error.ctx.command.params]
                    asked = [*filter(None, words)]
                    lacking = f"no {_word(error.param)}" if len(asked) > 1 else "none"
                    text = f"expected {' '.join(asked)}, found {lacking}"
                self._fail(f"{text.removesuffix('.')} (see {verb} --help)")
            error.show()  # the whole help, where a verb is missing
            sys.exit(error.exit_code)
        except BrokenPipeError:
            _unwritable_output()
            sys.exit(_SIGPIPE)
        except OSError as error:
            what = error.strerror or str(error) or type(error).__name__
            where = _unwritable_output() or error.filename
            self._fail(": ".join(str(part) for part in (where, what) if part))
        except KeyboardInterrupt:
            message("stopped", self.name)
            sys.exit(130)
        except SystemExit as ended:
            # Typer ends with 1, the answer no, where the reader of a pipe has gone.
            if isinstance(ended.__context__, BrokenPipeError):
                sys.exit(_SIGPIPE)
            raise

    def _at(self, place: str) -> Any:
        module, _, name = place.rpartition(".")
        return getattr(import_module(f"{self.package}.{module}"), name)

    def _fail(self, text: str) -> None:
        message(visible(text), self.name)
        sys.exit(2)


def _word(parameter: Any) -> str:
    """Return what stands for an argument in the help; nothing for an option."""
    is_argument = parameter.param_type_name == "argument"
    return (parameter.metavar or parameter.name).upper() if is_argument else ""


def _help_of(verb: Any) -> str:
    """Return the help of a verb, in which the lines of its examples are not joined."""
    return (inspect.getdoc(verb) or "").replace("\n\nExample:", "\n\n\b\nExample:")


def message(text: str, command: str | None = None) -> None:
    """Print a line for people on standard error, after the name of the command that runs."""
    print(f"{command or Path(sys.argv[0]).stem or 'gnomon'}: {text}", file=sys.stderr)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def _unwritable_output() -> str | None:
    """Return the name of standard output if it cannot be written to, and drop what it holds.

    Python would try to write it once more at its end, and report that on lines of its own.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return "standard output"
    return None


def _prepare_streams() -> None:
    """Open standard output if the caller closed it, and replace letters it cannot show."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the whole process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


#: The verbs of ``gnomon``.
COMMAND = Command(
    "gnomon",
    "Statistics of benchmark results: estimates, comparisons, ranks, smaller suites, reports.",
    "gnomon.cli",
    {
        "read": "layouts.read",
        "estimate": "statistics.estimate",
        "compare": "statistics.compare",
        "rank": "ranking.rank",
        "profile": "statistics.profile",
        "curves": "statistics.curves",
        "plan": "statistics.plan",
        "audit": "ranking.audit",
        "gate": "statistics.gate",
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
