"""``gnomon leaderboard season`` and ``check-reveal``: hidden rules, committed to and revealed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gnomon.cli.answer import JsonOption, answering
from gnomon.cli.leaderboard import (
    DatabaseOption,
    DataOption,
    opened_board,
    web_extra,
)

if TYPE_CHECKING:
    from gnomon.leaderboard.seasons.commitment import Reveal

__all__ = ["app", "check_reveal"]

app = typer.Typer(
    name="season",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a season of a TOML file, and reveal its hidden rules at the end.",
)
_DATA = Path("leaderboard-data")


@app.command()
def new(
    file: Annotated[Path, typer.Argument(help="What the season is: a TOML file.")],
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Put a season on the board; hidden rules are drawn now, and committed to."""
    with web_extra(), opened_board(data, database) as (_, opened):
        from gnomon.leaderboard.seasons.season import create_season, secret_rng
        from gnomon.leaderboard.seasons.season_plan import SeasonPlan

        with answering("leaderboard season new", as_json=as_json) as answer:
            plan = SeasonPlan.from_toml(file, rng=secret_rng())
            with opened.writing() as session:
                season = create_season(session, plan)
                record = {"season": season.name, "commitment": season.commitment}
            n_hidden = len(plan.hidden_rules)
            answer.results([record | {"n_rules": len(plan.rules), "n_hidden": n_hidden}])
            answer.say(
                f"season {plan.name}: {len(plan.rules)} rules, {n_hidden} of them hidden, "
                f"{plan.division} division"
            )
            if season.commitment is not None:
                answer.say(f"commitment: {season.commitment}")


@app.command()
def reveal(
    name: Annotated[str, typer.Argument(help="The season.")],
    out: Annotated[Path | None, typer.Option(help="Write what is revealed here too.")] = None,
    early: Annotated[bool, typer.Option("--early", help="Close it first, if it is open.")] = False,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Publish the hidden rules of a season that is over, with the salt of its commitment."""
    with web_extra(), opened_board(data, database) as (_, opened):
        from gnomon._io.atomic_file import write_atomically
        from gnomon.leaderboard.seasons.registration import find_season
        from gnomon.leaderboard.seasons.season import reveal_season

        with answering("leaderboard season reveal", as_json=as_json) as answer:
            with opened.writing() as session:
                told = reveal_season(session, find_season(session, name), early=early)
            record = told.to_record()
            answer.results([record])
            answer.say(f"season {name}: {len(told.rules)} rules revealed")
            if out is not None:
                text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
                write_atomically(out, text.encode())


def check_reveal(
    source: Annotated[str, typer.Argument(help="The file of a reveal, or the season's address.")],
    commitment: Annotated[
        str | None, typer.Option(help="The commitment as it was published before the season.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a season's commitment from the rules that it revealed."""
    from gnomon.leaderboard.seasons.commitment import commit

    with answering("leaderboard check-reveal", as_json=as_json) as answer:
        reveal = _reveal_from(source)
        found = commit(reveal.season, reveal.rules, reveal.salt)
        expected = reveal.commitment if commitment is None else commitment.strip().lower()
        holds = found == expected
        answer.results(
            [
                {
                    "season": reveal.season,
                    "holds": holds,
                    "commitment": expected,
                    "computed": found,
                    "n_rules": len(reveal.rules),
                }
            ]
        )
        if holds:
            answer.say(f"season {reveal.season}: the {len(reveal.rules)} rules are those committed")
        else:
            answer.say(f"season {reveal.season}: expected {expected}, computed {found}")
        if commitment is None:
            answer.warn("compared with the commitment in the reveal itself: use --commitment")
    raise typer.Exit(0 if holds else 1)


def _reveal_from(source: str) -> Reveal:
    """Read a reveal from a file, or ask a leaderboard: ``http://HOST/api/seasons/NAME``."""
    from gnomon.leaderboard.seasons.commitment import Reveal

    if not source.startswith(("http://", "https://")):
        return Reveal.from_json(source)
    from gnomon._io.http_client import HttpClient

    base, _, name = source.rstrip("/").removesuffix("/reveal").rpartition("/")
    server = base.removesuffix("/api/seasons").removesuffix("/seasons")
    found: Any = HttpClient(server, patience_s=5).get(f"/api/seasons/{name}/reveal")
    return Reveal.from_record(found)
