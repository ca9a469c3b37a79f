"""``gnomon captive``: the game for programs in any language."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gnomon.errors import GnomonError, visible

__all__ = ["CONTEXT", "captive"]

#: Options of the reference such as -Doutput=BRIEF are passed on as they are, so no -h.
CONTEXT = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "help_option_names": ["--help"],
}


def captive(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            help="RULE N [SHAPES COLORS [LIST [LIST]]], RULE BOARD.json, TRIALLIST.csv ROW or "
            "R:RULE:MODIFIER, and options: output=BRIEF|STANDARD|FULL, seed=, inputDir=, shapes=, "
            "colors=, crowded=, condTrain=, condTest=, log=, logappend=, log.nickname=, log.run=, "
            "log.format=Long|Compact, detailedTranscript=, reveal=true, pipelined=true.",
        ),
    ] = None,
    socket: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Serve clients at this port instead.")
    ] = None,
    host: Annotated[str, typer.Option(help="The address to serve at.")] = "127.0.0.1",
    idle: Annotated[
        float, typer.Option(min=0.01, help="Seconds until a silent client is dropped.")
    ] = 600.0,
    line_limit: Annotated[int, typer.Option(min=64, help="Most bytes of a line.")] = 65_536,
    client_logs: Annotated[
        bool, typer.Option("--client-logs", help="Clients may have result files written.")
    ] = False,
) -> None:
    """Play hidden rules as a text protocol, over a pipe or a socket."""
    try:
        if socket is None:
            _pipe(arguments or [], line_limit)
        else:
            _socket(arguments or [], host, socket, idle, line_limit, client_logs)
    except GnomonError as error:
        from gnomon.game.captive.opening import refusal

        # The reference's exit status of a game that cannot begin; other verbs say 2.
        print(visible(refusal(error)), file=sys.stderr)
        raise typer.Exit(1) from None


def _pipe(words: list[str], line_limit: int) -> None:
    from gnomon.experiments.game_logs.writer import open_game_log
    from gnomon.game.captive.arguments import read_arguments
    from gnomon.game.captive.opening import open_session
    from gnomon.game.captive.pipe import serve_pipe

    arguments = read_arguments(words)
    session = open_session(arguments, open_log=open_game_log)
    serve_pipe(session, line_limit=line_limit, pipelined=arguments.pipelined)


def _socket(
    words: list[str], host: str, port: int, idle: float, line_limit: int, client_logs: bool
) -> None:
    from gnomon.experiments.game_logs.writer import open_game_log
    from gnomon.game.captive.socket_server import SocketServer, run_server

    def announce(where: str) -> None:
        print(f"gnomon: serving at {where}; each client begins with GAME", file=sys.stderr)

    server = SocketServer(
        words,
        host=host,
        port=port,
        idle_s=idle,
        line_limit=line_limit,
        open_log=open_game_log if client_logs else None,
    )
    run_server(server, announce)
