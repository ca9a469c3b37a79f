"""``gnomon-board serve``, ``worker``, ``token``, ``backup`` and ``migrate``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli import Answer, JsonOption, answering, message
from gnomon.errors import counted

if TYPE_CHECKING:
    from gnomon_board.database import Database
    from gnomon_board.settings import Settings

DataOption = Annotated[Path, typer.Option("--data", help="The server's data folder.")]
#: Not an option: an address may hold a password, and all users can read a command line.
_DATABASE = "GNOMON_DATABASE_URL"
DATA = Path("board-data")


def serve(
    data: DataOption = DATA,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 chooses a free port.")] = 8080,
    allowed_host: Annotated[
        list[str] | None, typer.Option(help="Host name of the server; repeatable.")
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None, typer.Option(help="Address of a trusted proxy; repeatable.")
    ] = None,
    public_url: Annotated[str, typer.Option(help="Public address of the server.")] = "",
    https: Annotated[
        bool, typer.Option("--https", help="Set secure cookies, behind a proxy with HTTPS.")
    ] = False,
    worker: Annotated[bool, typer.Option(help="Verify submissions in this process, too.")] = True,
    log_format: Annotated[
        Literal["text", "json"],
        typer.Option(help="Format of the log on stderr; json includes every request."),
    ] = "text",
    as_json: JsonOption = False,
) -> None:
    """Serve a leaderboard and human play, locally or through a proxy.

    With the environment variable GNOMON_DATABASE_URL (postgresql://...) the board uses PostgreSQL
    instead of the SQLite file in the data folder.

    Example:
      gnomon-board serve --data board
    """
    from gnomon_board.settings import Settings
    from gnomon_board.web.server import serve as serve_until_stopped

    changes: dict[str, Any] = {"public_url": public_url, "secure_cookies": https}
    hosts = (*Settings.allowed_hosts, *(allowed_host or ()))
    changes |= {"allowed_hosts": hosts, "trusted_proxies": tuple(trusted_proxy or ())}
    settings = Settings(data, os.environ.get(_DATABASE, ""), **changes)

    def tell(url: str, first_token: str | None) -> None:
        with answering("serve", as_json=as_json) as answer:
            answer.results([{"url": url, "first_token": first_token}])
            answer.say(f"Serving {data} at {url} (Ctrl-C ends it)")
            if first_token is not None:
                answer.say(f"First admin token, shown only now: {first_token}")
        print(end="", flush=True)  # the output may be a pipe

    serve_until_stopped(settings, host, port, worker=worker, log_format=log_format, on_start=tell)


def worker(data: DataOption = DATA) -> None:
    """Verify the submissions of a server, on any machine.

    Example:
      gnomon-board worker --data board
    """
    from gnomon_board.worker import work_until_stopped

    with opened_board(data) as (settings, opened):
        work_until_stopped(opened, settings)


def token(
    account: Annotated[str, typer.Argument(help="Name of the account; created if it is new.")],
    scope: Annotated[
        list[str] | None, typer.Option(help="submit, moderate or admin; repeatable.")
    ] = None,
    days: Annotated[
        float | None, typer.Option(min=0.01, help="Days until the token expires.")
    ] = None,
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Create an API token, which is shown once.

    Example:
      gnomon-board token NAME --scope submit --data board
    """
    with board_answering("token", data, as_json) as (answer, opened):
        from gnomon_board.accounts import token_for

        text = token_for(opened, account, scope or ["submit"], days=days)
        answer.results([{"account": account, "token": text}])
        answer.say(text)


def migrate(data: DataOption = DATA, as_json: JsonOption = False) -> None:
    """Migrate the database to this version.

    Example:
      gnomon-board migrate --data board
    """
    with board_answering("migrate", data, as_json, checked=False) as (answer, opened):
        from gnomon_board.database import current_revision, upgrade

        before = current_revision(opened)
        upgrade(opened)
        after = current_revision(opened)
        answer.results([{"before": before, "after": after}])
        answer.say(f"The tables were at version {before or 'none'} and are now at {after}.")


def backup(
    folder: Annotated[
        Path, typer.Argument(help="The backup: a new folder, or with --restore one.")
    ],
    restore: Annotated[
        bool, typer.Option("--restore", help="Make a new data folder from the backup.")
    ] = False,
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Back up a board, also while it is served, or restore it.

    Exit status 1 if a log is damaged or missing: it is named, and the backup lacks it.

    Example:
      gnomon-board backup backup --data board
      gnomon-board backup backup --restore --data restored
    """
    from gnomon_board.settings import Settings
    from gnomon_board.web.backup import back_up, restore_backup

    if restore:
        with answering("backup", as_json=as_json) as answer:
            record = restore_backup(folder, Settings(data))
            answer.results([record])
            answer.say(f"the board of {record['taken']} is in {data}")
        return
    with opened_board(data) as (settings, opened), answering("backup", as_json=as_json) as answer:
        record = back_up(settings, opened, folder)
        answer.results([record])
        answer.say(f"the database and {counted(record['logs'], 'log')} are in {folder}")
        for name in record["damaged"]:
            answer.warn(f"damaged or missing: {data}/evidence/{name[:2]}/{name}")
    raise typer.Exit(1 if record["damaged"] else 0)


@contextmanager
def board_answering(
    command: str, data: Path, as_json: bool, **opening: bool
) -> Iterator[tuple[Answer, Database]]:
    """Answer a verb with the database of a board, as :func:`opened_board` opens it."""
    with (
        opened_board(data, **opening) as (_, opened),
        answering(command, as_json=as_json) as answer,
    ):
        yield answer, opened


@contextmanager
def opened_board(
    data: Path, *, checked: bool = True, create: bool = False
) -> Iterator[tuple[Settings, Database]]:
    """Open the database of a board; ``create`` makes one if there is none."""
    from gnomon_board.database import Database, require_head
    from gnomon_board.errors import LeaderboardError
    from gnomon_board.settings import Settings

    settings = Settings(data, os.environ.get(_DATABASE, ""))
    if create:
        from gnomon_board.web.server import prepare

        opened, first_token = prepare(settings)
        if first_token is not None:
            message(f"a new board is in {data}; first admin token, shown only now: {first_token}")
    else:
        opened = Database(settings.database)
    try:
        if opened.file is not None and not opened.file.exists():
            raise LeaderboardError(f"{opened.file}: there is no leaderboard")
        if checked:
            require_head(opened)
        yield settings, opened
    finally:
        opened.close()
