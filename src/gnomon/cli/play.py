"""``gnomon play``: a person in the learner's seat."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.errors import RuleSyntaxError

__all__ = ["play"]


def play(
    rule: Annotated[str, typer.Argument(help="A rule of the catalogue, or a file.")],
    boards: Annotated[int, typer.Option(min=1, max=1000, help="Boards, one after another.")] = 20,
    horizon: Annotated[int, typer.Option(min=1, help="Attempts before a board is cut off.")] = 100,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the boards; a new one by default.")
    ] = None,
    name: Annotated[str, typer.Option(help="Your name in the transcript.")] = "me",
    transcript: Annotated[
        Path | None, typer.Option(help="Write every attempt to this file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a hidden rule yourself, and see your errors beside the learners'."""
    import secrets

    from rich.console import Console

    from gnomon.studies.baselines import baseline_curves
    from gnomon.studies.play_session import Game, PlaySession
    from gnomon.studies.terminal import board_records, play_in_terminal, result_table
    from gnomon.studies.transcript import PlayedGame, transcript_text

    with answering("play", as_json=as_json) as answer:
        seed = secrets.randbits(32) if seed is None else seed
        shown = Path(rule).stem
        game = Game(shown, _rule_text(rule), seed, boards, horizon)
        session = PlaySession(game)
        # The game is talk; what came of it is the answer.
        console = Console(stderr=as_json, highlight=False, markup=False)
        play_in_terminal(session, console, _ask)
        answer.results([{"rule": shown, "seed": seed} | each for each in board_records(session)])
        if session.attempts and not as_json:
            console.print(result_table(session, baseline_curves(game)))
        if transcript is not None:
            text = transcript_text([PlayedGame(name, "", 0, shown, session)])
            transcript.write_text(text, encoding="utf-8")
            answer.say(f"written to {transcript}")


def _rule_text(rule: str) -> str:
    """Return the text of a rule that parses."""
    from gnomon.cli.rule_text import read_rule_text
    from gnomon.rules.parser import parse

    text = read_rule_text(rule)
    try:
        parse(text)
    except RuleSyntaxError as error:
        raise error.in_file(rule) from None
    return text


def _ask(prompt: str) -> str:
    """Ask on standard error, and read a line."""
    print(prompt, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
