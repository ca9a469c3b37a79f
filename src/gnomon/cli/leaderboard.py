"""``gnomon serve`` and ``gnomon leaderboard``, with the seasons of a board."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering

if TYPE_CHECKING:
    from gnomon.database.engine import Database
    from gnomon.leaderboard.seasons.commitment import Reveal
    from gnomon.leaderboard.server_settings import ServerSettings
    from gnomon.web.server import Started

app = typer.Typer(
    name="leaderboard",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look after a leaderboard: backup, restore, upgrade, seasons.",
)

season_app = typer.Typer(
    name="season",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a season of a TOML file, and reveal its hidden rules at the end.",
)
app.add_typer(season_app)

DataOption = Annotated[Path, typer.Option("--data", help="The server's data folder.")]
# An address may hold a password, and everybody on the machine can read a command line.
DatabaseOption = Annotated[
    str,
    typer.Option(
        "--database",
        envvar="GNOMON_DATABASE_URL",
        show_default=False,
        help="Another database than the SQLite file in the data folder: postgresql://...",
    ),
]
_DATA = Path("leaderboard-data")


def serve(
    data: DataOption = _DATA,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8080,
    database: DatabaseOption = "",
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="A name that the server goes by; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None, typer.Option(help="Address of a proxy to believe; repeatable.")
    ] = None,
    public_url: Annotated[str, typer.Option(help="How the world sees the server.")] = "",
    https: Annotated[
        bool, typer.Option("--https", help="Behind a proxy that speaks HTTPS: secure cookies.")
    ] = False,
    worker: Annotated[bool, typer.Option(help="Verify submissions here too.")] = True,
    log_format: Annotated[
        Literal["text", "json"],
        typer.Option(help="Of the log on stderr; as json it holds every request."),
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Serve a leaderboard, with human play, to this machine or through a proxy to the world."""
    with web_extra():
        from gnomon.leaderboard.server_settings import ServerSettings
        from gnomon.web.server import serve as serve_until_stopped

        changes: dict[str, Any] = {"public_url": public_url, "secure_cookies": https}
        hosts = (*ServerSettings.allowed_hosts, *(allowed_host or ()))
        changes |= {"allowed_hosts": hosts, "trusted_proxies": tuple(trusted_proxy or ())}
        settings = ServerSettings(data, database, **changes)

        def tell(started: Started) -> None:
            with answering("serve", as_json=as_json) as answer:
                answer.results([{"url": started.url, "first_token": started.first_token}])
                answer.say(f"Serving {data} at {started.url} (Ctrl-C ends it)")
                if started.first_token is not None:
                    answer.say(f"First admin token, shown only now: {started.first_token}")
            print(end="", flush=True)  # whoever started the server may read through a pipe

        serve_until_stopped(
            *(settings, host, port), worker=worker, log_format=log_format, on_start=tell
        )


@app.command()
def worker(data: DataOption = _DATA, database: DatabaseOption = "") -> None:
    """Verify submissions, beside a server that was started with --no-worker."""
    with web_extra():
        from gnomon.leaderboard.submissions.worker import work_until_stopped

        with opened_board(data, database) as (settings, opened):
            work_until_stopped(opened, settings)


@app.command()
def token(
    account: Annotated[str, typer.Argument(help="The account; a new one is made.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="submit, moderate or admin; repeatable.")
    ] = None,
    days: Annotated[float | None, typer.Option(min=0.01, help="It ends after so many.")] = None,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make an API token, on the server's machine; it is shown once."""
    with board_answering("token", data, database, as_json) as (answer, opened):
        from gnomon.leaderboard.accounts.accounts import token_for

        text = token_for(opened, account, scope or ["submit"], days=days)
        answer.results([{"account": account, "token": text}])
        answer.say(text)


@app.command()
def migrate(
    to: Annotated[
        str, typer.Option(help="A version of the tables; by default the newest.")
    ] = "head",
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Bring the tables of the database to this program's version, or another."""
    with board_answering("migrate", data, database, as_json, checked=False) as (answer, opened):
        from gnomon.database.migration import current_revision, move_to

        before = current_revision(opened)
        move_to(opened, to)
        after = current_revision(opened)
        answer.results([{"before": before, "after": after}])
        answer.say(f"the tables were at version {before or 'none'}, and are at {after or 'none'}")


@app.command()
def backup(
    out: Annotated[Path, typer.Argument(help="A new folder.")],
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Back everything up, while the server goes on."""
    with board_answering("backup", data, database, as_json) as (answer, opened):
        from gnomon.leaderboard.server_settings import ServerSettings
        from gnomon.web.backup import back_up

        record = back_up(ServerSettings(data, database), opened, out)
        answer.results([record])
        rows = sum(record["rows"].values())
        answer.say(f"{rows} rows and {record['logs']} logs are in {out}")


@app.command()
def restore(
    backup: Annotated[Path, typer.Argument(help="A folder that backup has written.")],
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a new server of a backup."""
    with web_extra():
        from gnomon.leaderboard.server_settings import ServerSettings
        from gnomon.web.backup import restore as restore_backup

        with answering("leaderboard restore", as_json=as_json) as answer:
            record = restore_backup(backup, ServerSettings(data, database))
            answer.results([record])
            answer.say(f"the board of {record['taken']} is in {data}")


@season_app.command()
def new(
    file: Annotated[Path, typer.Argument(help="What the season is: a TOML file.")],
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Put a season on the board; hidden rules are drawn now, and committed to."""
    with board_answering("season new", data, database, as_json) as (answer, opened):
        from gnomon.leaderboard.seasons.season import create_season, secret_rng
        from gnomon.leaderboard.seasons.season_plan import SeasonPlan

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


@season_app.command()
def reveal(
    name: Annotated[str, typer.Argument(help="The season.")],
    out: Annotated[Path | None, typer.Option(help="Write what is revealed here too.")] = None,
    early: Annotated[bool, typer.Option("--early", help="Close it first, if it is open.")] = False,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Publish the hidden rules of a season that is over, with the salt of its commitment."""
    with board_answering("season reveal", data, database, as_json) as (answer, opened):
        from gnomon._io.atomic_file import write_atomically
        from gnomon.leaderboard.seasons.entry_registration import find_season
        from gnomon.leaderboard.seasons.season import reveal_season

        with opened.writing() as session:
            told = reveal_season(session, find_season(session, name), early=early)
        record = told.to_record()
        answer.results([record])
        answer.say(f"season {name}: {len(told.rules)} rules revealed")
        if out is not None:
            text = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
            write_atomically(out, text.encode())


@app.command("check-reveal")
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


@contextmanager
def board_answering(
    command: str, data: Path, database: str, as_json: bool, *, checked: bool = True
) -> Iterator[tuple[Answer, Database]]:
    """Answer a verb of ``gnomon leaderboard`` with the database of a server that exists."""
    with (
        web_extra(),
        opened_board(data, database, checked=checked) as (_, opened),
        answering(f"leaderboard {command}", as_json=as_json) as answer,
    ):
        yield answer, opened


@contextmanager
def opened_board(
    data: Path, database: str, *, checked: bool = True
) -> Iterator[tuple[ServerSettings, Database]]:
    """Open the database of a server that exists."""
    from gnomon.database.engine import Database
    from gnomon.database.migration import require_head
    from gnomon.errors import LeaderboardError
    from gnomon.leaderboard.server_settings import ServerSettings

    settings = ServerSettings(data, database)
    opened = Database(settings.database)
    try:
        if opened.file is not None and not opened.file.exists():
            raise LeaderboardError(f"{opened.file}: there is no leaderboard")
        if checked:
            require_head(opened)
        yield settings, opened
    finally:
        opened.close()


@contextmanager
def web_extra() -> Iterator[None]:
    """Say in one line what is not installed."""
    from gnomon.errors import LeaderboardError

    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "gnomon":
            raise
        raise LeaderboardError(
            f"the leaderboard needs {error.name}, which is not installed; "
            "pip install 'gnomon-rl[web]'"
        ) from None
