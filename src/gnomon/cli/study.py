"""``gnomon leaderboard study``: what people are invited to play, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli.answer import JsonOption
from gnomon.cli.leaderboard import DatabaseOption, DataOption, board_answering
from gnomon.cli.leaderboard import app as leaderboard

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a study of a plan, on the server's machine, and export what was played.",
)
leaderboard.add_typer(app)
_DATA = Path("leaderboard-data")
StudyArgument = Annotated[str, typer.Argument(help="The study.")]
UrlOption = Annotated[str, typer.Option(help="How the world sees the server.")]
_URL = "http://127.0.0.1:8080"


@app.command()
def new(
    plan: Annotated[Path, typer.Argument(help="What the study is: a TOML file.")],
    public_url: UrlOption = _URL,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a study, and print its invitation, which is kept nowhere."""
    with board_answering("study new", data, database, as_json) as (answer, opened):
        from gnomon.studies.study_plan import read_plan
        from gnomon.studies.study_store import first_account, make_study

        read = read_plan(plan)
        with opened.writing() as session:
            study, key = make_study(session, read, by=first_account(session))
            link = f"{public_url.rstrip('/')}/join/{key}"
            answer.results([{"id": study.id, "study": study.name, "invitation": link}])
        answer.say(f"study {read.name}: {len(read.lists)} lists, {len(read.rules)} rules")
        answer.say(f"invitation, shown only now: {link}")


@app.command("list")
def list_(
    data: DataOption = _DATA, database: DatabaseOption = "", as_json: JsonOption = False
) -> None:
    """List the studies, with the number of players."""
    with board_answering("study list", data, database, as_json) as (answer, opened):
        from gnomon.studies.study_store import study_lines

        with opened.reading() as session:
            lines = study_lines(session)
        answer.results([vars(line) for line in lines])
        for line in lines:
            closed = ", closed" if line.closed else ""
            answer.say(f"{line.name}: {line.n_players} players, {line.n_finished} finished{closed}")


@app.command()
def export(
    name: StudyArgument,
    out: Annotated[Path, typer.Argument(help="A folder for the two files.")],
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Write the transcript of a study, and its scores, as CSV files."""
    with board_answering("study export", data, database, as_json) as (answer, opened):
        from gnomon.studies.study_store import study_named, write_study

        with opened.reading() as session:
            paths = write_study(session, study_named(session, name), out)
        answer.results([{"path": str(path)} for path in paths])
        for path in paths:
            answer.say(str(path))


@app.command()
def invite(
    name: StudyArgument,
    public_url: UrlOption = _URL,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print a new invitation to a study, closed or not; the one before ends."""
    with board_answering("study invite", data, database, as_json) as (answer, opened):
        from gnomon.studies.study_store import first_account, invite_anew, study_named

        with opened.writing() as session:
            study = study_named(session, name)
            key = invite_anew(session, study, by=first_account(session))
        link = f"{public_url.rstrip('/')}/join/{key}"
        answer.results([{"study": name, "invitation": link}])
        answer.say(f"invitation, shown only now: {link}")


@app.command()
def close(
    name: StudyArgument,
    data: DataOption = _DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Let nobody else join a study; whoever has begun may play to the end."""
    with board_answering("study close", data, database, as_json) as (answer, opened):
        from gnomon.studies.study_store import close_study, first_account, study_named

        with opened.writing() as session:
            close_study(session, study_named(session, name), by=first_account(session))
        answer.results([{"study": name, "closed": True}])
        answer.say(f"study {name} is closed")
