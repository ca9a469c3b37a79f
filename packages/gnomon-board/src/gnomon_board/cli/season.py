"""``gnomon-board season``: make a season, play a hidden one, close it, and reveal its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, answering, bar_of
from gnomon.errors import counted
from gnomon_board.cli.serving import DATA, DataOption, board_answering
from gnomon_board.cli.submitting import AgainOption, InsecureOption, ServerOption, TokenOption

app = typer.Typer(
    name="season",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create, play, close and reveal seasons.",
)
SeasonArgument = Annotated[str, typer.Argument(help="The season.")]


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="TOML file of the season.")],
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Create a season, draw its hidden rules and commit to them.

    A board is created if there is none.

    Example:
      gnomon-board season new season.toml --data board
    """
    import numpy as np

    from gnomon_board.season_plan import read_season
    from gnomon_board.seasons import create_season

    with bar_of("rules drawn") as progress:
        season = read_season(file, rng=np.random.default_rng(), progress=progress)
    with board_answering("season new", data, as_json, create=True) as (answer, opened):
        with opened.writing() as session:
            create_season(session, season)
        n_rules = len(season.rules)
        n_hidden = sum(rule.visibility == "hidden" for rule in season.rules)
        record = {"season": season.name, "commitment": season.commitment}
        answer.results([record | {"n_rules": n_rules, "n_hidden": n_hidden}])
        answer.say(
            f"season {season.name}: {counted(n_rules, 'rule')}, {n_hidden} hidden, "
            f"{season.division} division"
        )
        if season.commitment is not None:
            answer.say(f"commitment: {season.commitment}")


@app.command()
def play(
    plan: Annotated[Path, typer.Argument(help="A TOML file: season, entry and learner.")],
    to: ServerOption,
    token: TokenOption,
    again: AgainOption = False,
    insecure: InsecureOption = False,
    as_json: JsonOption = False,
) -> None:
    """Play a hidden season; after an interruption, continue it.

    Example:
      gnomon-board season play plan.toml --to https://board.example.org
    """
    from gnomon_board.client import Client
    from gnomon_board.remote_play import RemotePlan, play_remotely

    with answering("season play", as_json=as_json) as answer:
        planned = RemotePlan.from_toml(plan)
        # The server limits requests per minute: a learner that is faster waits for the next one.
        client = Client(to, token, patience_s=90.0, insecure=insecure)
        try:
            with bar_of("trials") as progress:
                summary = play_remotely(planned, client, again=again, progress=progress)
        except KeyboardInterrupt:
            answer.warn("stopped; the attempts so far are kept, and the same command continues")
            raise typer.Exit(130) from None
        answer.results([summary])
        answer.say(
            "{name}: {done} trials played, {skipped} before, {n_attempts} attempts; season "
            "{season}, entry {entry}, assignment {attempt}".format(name=planned.entry, **summary)
        )
        if summary["done"]:
            answer.say("the server replays them before they appear in the standings")
        else:
            answer.warn("this assignment is over: nothing was played; --again requests another one")


@app.command()
def close(name: SeasonArgument, data: DataOption = DATA, as_json: JsonOption = False) -> None:
    """Close a season now: it takes no more entries, moves or submissions.

    Example:
      gnomon-board season close spring --data board
    """
    with board_answering("season close", data, as_json) as (answer, opened):
        from gnomon_board.database import find_named
        from gnomon_board.schema import Season
        from gnomon_board.seasons import close_season

        with opened.writing() as session:
            close_season(session, find_named(session, Season, name))
        answer.results([{"season": name, "closed": True}])
        answer.say(f"season {name} is closed")


@app.command()
def reveal(
    name: SeasonArgument,
    out: Annotated[Path | None, typer.Option(help="Also write the reveal to this file.")] = None,
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Publish the hidden rules and the salt of a closed season.

    Example:
      gnomon-board season reveal spring --data board
    """
    with board_answering("season reveal", data, as_json) as (answer, opened):
        from gnomon.text_files import write_atomically
        from gnomon_board.database import find_named
        from gnomon_board.schema import Season
        from gnomon_board.seasons import reveal_season

        with opened.writing() as session:
            told = reveal_season(session, find_named(session, Season, name))
        record = told.model_dump()
        answer.results([record])
        answer.say(f"season {name}: {len(told.rules)} rules revealed")
        if out is not None:
            text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
            write_atomically(out, text.encode())


@app.command("check-reveal")
def check_reveal(
    source: Annotated[str, typer.Argument(help="Address of the season, or a file of its record.")],
    commitment: Annotated[
        str | None, typer.Option(help="The commitment as it was published before the season.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check revealed rules against the commitment of a season.

    Example:
      gnomon-board season check-reveal https://board.example.org/seasons/s1
    """
    from gnomon_board.commitment import Reveal

    with answering("season check-reveal", as_json=as_json) as answer:
        if source.startswith(("http://", "https://")):
            from gnomon_board import Client

            base, _, name = source.rstrip("/").rpartition("/")
            server = base.removesuffix("/api/seasons").removesuffix("/seasons")
            client = Client(server, patience_s=5)
            reveal = Reveal.from_record(client.ask("GET", f"/api/seasons/{name}"))
        else:
            reveal = Reveal.from_json(source)
        expected = reveal.commitment if commitment is None else commitment.strip().lower()
        found, n_rules = reveal.computed, len(reveal.rules)
        holds = found == expected
        checked = {"season": reveal.name, "holds": holds, "n_rules": n_rules}
        answer.results([checked | {"commitment": expected, "computed": found}])
        if holds:
            answer.say(f"season {reveal.name}: the {n_rules} rules are those committed")
        else:
            answer.say(f"season {reveal.name}: expected {expected}, computed {found}")
        if commitment is None:
            answer.warn("compared with the commitment in the reveal itself: use --commitment")
    raise typer.Exit(0 if holds else 1)
