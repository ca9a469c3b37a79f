"""``gohr learners``, ``gohr play`` and ``gohr captive``: who can play, and by what means."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from gnomon.cli import JsonOption, answering, message
from gnomon.errors import GnomonError, visible

if TYPE_CHECKING:
    from gohr.playing import TrialInPlay


def learners(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(help="Kinds, or package.module:Class; one kind is shown with its settings."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the available learners and their settings.

    Example:
      gohr learners
      gohr learners linear_dqn
    """
    from gohr.learners.registry import learner_kinds

    with answering("learners", as_json=as_json) as answer:
        answer.show(learner_kinds(*(kinds or ())))


def play(
    rule: Annotated[str, typer.Argument(help="A rule of the library, or a file.")],
    boards: Annotated[int, typer.Option(min=1, max=1000, help="Number of boards.")] = 20,
    horizon: Annotated[
        int, typer.Option(min=1, help="Maximum number of attempts per board.")
    ] = 100,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the boards; random by default.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a hidden rule yourself.

    Example:
      gohr play clockwise
    """
    import secrets

    from gohr.experiments import RuleEntry
    from gohr.experiments.metrics import episode_errors
    from gohr.people.series import Game
    from gohr.playing import TrialInPlay
    from gohr.rules.parser import parse

    with answering("play", as_json=as_json) as answer:
        seed = secrets.randbits(32) if seed is None else seed
        name, text = Path(rule).stem, RuleEntry(rule).found(Path()).text
        dealt = Game(name, text, seed, boards, horizon).boards()
        trial = TrialInPlay(dealt, parse(text), horizon=horizon, interpreted=True)
        # The game is talk; what came of it is the answer.
        out = sys.stderr if as_json else sys.stdout
        print(_HELP, file=out)
        _play(trial, boards, out)
        log = trial.log(in_play=True)
        columns = log.finish.tolist(), log.n_attempts.tolist(), episode_errors(log).tolist()
        records = [
            {"rule": name, "seed": seed, "board": i}
            | {"end": _ENDS[finish], "attempts": n, "errors": errors}
            for i, (finish, n, errors) in enumerate(zip(*columns, strict=True), 1)
        ]
        answer.records(records, ("board", "end", "attempts", "errors"), title=f"{name}, {seed=}")


_HELP = """\
A hidden rule decides which piece may go into which bucket, and when. Find it with few errors.
  3 5 2  try the piece in column 3, row 5, in bucket 2
  q      stop
"""
_ENDS = {0: "not cleared", 1: "cleared", 2: "stalemate"}
_REPLIES = {
    0: "Yes, it goes there.",
    3: "There is no piece in this cell.",
    4: "No: this piece can be moved now, but not there.",
    7: "No: this piece cannot be moved now.",
}


def _play(trial: TrialInPlay, boards: int, out: TextIO) -> None:
    """Ask for attempts until the boards are over, or the player stops."""
    from gohr.board import DEFAULT_SPEC
    from gohr.drawing import board_text

    shown = None
    while not trial.over:
        board = trial.observation.board
        if shown is None or (board != shown).any():
            print(f"board {len(trial.finish) + 1} of {boards}", file=out)
            print(board_text(board, DEFAULT_SPEC), file=out)
            shown = board
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line or line.strip() in ("q", "g"):
            return
        attempt = re.fullmatch(r"\s*([1-6])\s*([1-6])\s*([0-3])\s*", line)
        if attempt is None:
            print("Expected column, row and bucket, such as 3 5 2, or q.", file=out)
            continue
        column, row, bucket = map(int, attempt.groups())
        made = trial.attempt(4 * (column + 6 * row - 7) + bucket)
        print(_REPLIES[made.outcome], file=out)
        if made.terminated or made.truncated:
            print(f"The board is over: {_ENDS[trial.finish[-1]]}.", file=out)


#: Options of the reference such as -Doutput=BRIEF are passed on as they are, so no -h.
CAPTIVE_CONTEXT = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": ["--help"],
}


def captive(
    context: typer.Context,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="RULE N [SHAPES COLORS [LIST [LIST]]] or RULE BOARD.json, and options: "
            "output=BRIEF|STANDARD|FULL, seed=, inputDir=, shapes=, colors=, condTrain=, "
            "condTest=, log=, logappend=, log.nickname=, log.run=, log.format=Long|Compact, "
            "reveal=true.",
        ),
    ] = None,
    socket: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Listen on this TCP port instead of standard input."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    idle: Annotated[
        float, typer.Option(min=0.01, help="Seconds until a silent client is disconnected.")
    ] = 600.0,
) -> None:
    """Play hidden rules as a text protocol, over a pipe or over TCP.

    Example:
      gohr captive clockwise 9 output=STANDARD seed=7
      gohr captive --socket 7501 inputDir=data
    """
    from gohr.captive_server import open_session, refusal, serve_pipe

    if arguments and "-h" in arguments:
        print(context.get_help())
        return
    try:
        if socket is None:
            serve_pipe(open_session(arguments or []))
        else:
            _tcp(arguments or [], host, socket, idle)
    except GnomonError as error:
        # The reference's exit status of a game that cannot begin; other verbs exit with 2.
        print(visible(refusal(error)), file=sys.stderr)
        raise typer.Exit(1) from None


def _tcp(words: list[str], host: str, port: int, idle_s: float) -> None:
    """Serve until the process is interrupted or terminated."""
    import signal

    from gohr.captive_server import CaptiveServer

    folder = Path()
    for word in words:
        name, _, value = word.removeprefix("-D").partition("=")
        if name != "inputDir" or not value:
            raise GnomonError(f"a server takes inputDir=FOLDER only, found {word!r}")
        folder = Path(value)

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with CaptiveServer(folder, host=host, port=port, idle_s=idle_s) as server:
        address, number = server.socket.getsockname()[:2]
        message(f"serving at {address}:{number}; each client begins with GAME")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
