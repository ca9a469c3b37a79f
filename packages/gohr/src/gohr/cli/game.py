"""``gohr learners``, ``gohr play`` and ``gohr captive``: who can play, and by what means."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, TextIO

import typer

from gnomon.cli import JsonOption, answering, message
from gnomon.errors import GnomonError, visible


def learners(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(help="Kinds, or package.module:Class; of a single one, show the settings."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the available learners and their settings."""
    from gohr.learners.registry import learner_kinds

    with answering("learners", as_json=as_json) as answer:
        answer.show(learner_kinds(*(kinds or ())))


def play(
    rule: Annotated[str, typer.Argument(help="A rule of the catalogue, or a file.")],
    boards: Annotated[int, typer.Option(min=1, max=1000, help="Number of boards.")] = 20,
    horizon: Annotated[
        int, typer.Option(min=1, help="Maximum number of attempts per board.")
    ] = 100,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the boards; random by default.")
    ] = None,
    name: Annotated[str, typer.Option(help="Your name in the transcript.")] = "me",
    transcript: Annotated[
        Path | None, typer.Option(help="Write every attempt to this new file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a hidden rule yourself, and see your errors beside the learners'."""
    import secrets

    from rich.console import Console

    from gohr.experiments import RuleEntry
    from gohr.people.baselines import baseline_curves
    from gohr.people.series import Game
    from gohr.people.session import PlaySession
    from gohr.people.terminal import board_records, play_in_terminal, result_table
    from gohr.people.transcripts import PlayedGame, transcript_text

    with answering("play", as_json=as_json) as answer:
        seed = secrets.randbits(32) if seed is None else seed
        shown = Path(rule).stem
        game = Game(shown, RuleEntry(rule).found(Path()).text, seed, boards, horizon)
        session = PlaySession(game)
        # The game is talk; what came of it is the answer.
        console = Console(stderr=as_json, highlight=False, markup=False)
        with nullcontext() if transcript is None else _new_file(transcript) as file:
            try:
                play_in_terminal(session, console, _ask)
            finally:  # also what was played before Ctrl-C
                if file is not None:
                    file.write(transcript_text([PlayedGame(name, "", 0, shown, session)]))
        answer.results([{"rule": shown, "seed": seed} | each for each in board_records(session)])
        if session.attempts and not as_json:
            console.print(result_table(session, baseline_curves(game)))
        if transcript is not None:
            answer.say(f"written to {transcript}")


def _new_file(path: Path) -> TextIO:
    """Open a file for a transcript before the first board; never one that there is."""
    try:
        return path.open("x", encoding="utf-8", errors="replace")
    except FileExistsError:
        why = "already exists and is not overwritten; name a new file"
    except FileNotFoundError:
        why = f"there is no folder {path.parent}; create it, or name another file"
    except OSError as error:
        why = f"cannot be written ({error.strerror}); name another file"
    raise GnomonError(f"--transcript {path}: {why}")


def _ask(prompt: str) -> str:
    """Ask on standard error, and read a line."""
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line


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
            "detailedTranscript=, reveal=true, pipelined=true.",
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
    """Play hidden rules as a text protocol, over a pipe or over TCP."""
    if arguments and "-h" in arguments:
        print(context.get_help())
        return
    try:
        if socket is None:
            _pipe(arguments or [])
        else:
            _tcp(arguments or [], host, socket, idle)
    except GnomonError as error:
        from gohr.game.captive import refusal

        # The reference's exit status of a game that cannot begin; other verbs exit with 2.
        print(visible(refusal(error)), file=sys.stderr)
        raise typer.Exit(1) from None


def _pipe(words: list[str]) -> None:
    from gohr.game.captive import open_session, read_arguments, serve_pipe

    arguments = read_arguments(words)
    serve_pipe(open_session(arguments), pipelined=arguments.options.get("pipelined", False))


def _tcp(words: list[str], host: str, port: int, idle_s: float) -> None:
    """Serve until the process is interrupted or terminated."""
    import asyncio
    import signal

    from gohr.game.captive import serve_tcp

    folder = Path()
    for word in words:
        name, _, value = word.removeprefix("-D").partition("=")
        if name != "inputDir" or not value:
            raise GnomonError(f"a server takes inputDir=FOLDER only, found {word!r}")
        folder = Path(value)

    def announce(where: str) -> None:
        message(f"serving at {where}; each client begins with GAME")

    async def serve() -> None:
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        await serve_tcp(folder, stop, announce, host=host, port=port, idle_s=idle_s)

    asyncio.run(serve())
