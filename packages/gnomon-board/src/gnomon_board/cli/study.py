"""``gnomon-board study``: what people are invited to play, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gnomon.cli import JsonOption, answering
from gnomon_board.cli.serving import DATA, DatabaseOption, DataOption, board_answering

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a study of a plan, on the server's machine, and export what was played.",
)
StudyArgument = Annotated[str, typer.Argument(help="The study.")]
UrlOption = Annotated[str, typer.Option(help="How the world sees the server.")]
_URL = "http://127.0.0.1:8080"
PlanArgument = Annotated[Path, typer.Argument(help="The plan of the study: a TOML file.")]


@app.command()
def check(
    plan: PlanArgument,
    as_json: JsonOption = False,
) -> None:
    """List the screens of a plan, and its errors and warnings, before the study starts.

    Exit status: 0 if all is well or there are only notes, 1 for an error or a warning, 2 if
    something cannot be read.
    """
    with answering("study check", as_json=as_json) as answer:
        from gnomon_board.studies.plan import read_plan
        from gnomon_board.studies.plan_check import check_plan

        checked = check_plan(read_plan(plan))
        answer.results(checked.records())
        answer.say(str(checked))
    raise typer.Exit(0 if checked.passes else 1)


@app.command()
def new(
    plan: PlanArgument,
    public_url: UrlOption = _URL,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Make a study, and print its invitation, which is kept nowhere.

    If there is no board yet, one is made.
    """
    from gnomon_board.studies.plan import read_plan
    from gnomon_board.studies.store import first_account, make_study

    read = read_plan(plan)
    with board_answering("study new", data, database, as_json, create=True) as (answer, opened):
        with opened.writing() as session:
            study, key = make_study(session, read, by=first_account(session))
            link = f"{public_url.rstrip('/')}/join/{key}"
            answer.results([{"id": study.id, "study": study.name, "invitation": link}])
        answer.say(f"study {read.name}: {len(read.lists)} lists, {len(read.rules)} rules")
        answer.say(f"invitation, shown only now: {link}")


@app.command()
def links(
    name: StudyArgument,
    number: Annotated[int, typer.Argument(min=1, max=10_000, help="How many.")],
    public_url: UrlOption = _URL,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print links for one person each, with the pseudonyms; they are kept nowhere."""
    with board_answering("study links", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import first_account, personal_links, study_named

        with opened.writing() as session:
            study = study_named(session, name)
            made = personal_links(session, study, number, by=first_account(session))
        base = public_url.rstrip("/")
        records = [{"player": player, "link": f"{base}/players/{key}"} for player, key in made]
        answer.results(records)
        for record in records:
            answer.say(f"{record['player']}  {record['link']}")


PlayerArgument = Annotated[str, typer.Argument(help="The pseudonym of a player.")]


@app.command()
def link(
    name: StudyArgument,
    player: PlayerArgument,
    public_url: UrlOption = _URL,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print a new link for a player who lost the old one, which ends."""
    with board_answering("study link", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import first_account, new_link, study_named

        with opened.writing() as session:
            study = study_named(session, name)
            key = new_link(session, study, player, by=first_account(session))
        address = f"{public_url.rstrip('/')}/players/{key}"
        answer.results([{"player": player, "link": address}])
        answer.say(f"{player}  {address}")


@app.command()
def exclude(
    name: StudyArgument,
    player: PlayerArgument,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Exclude a player from the lists and run folders, or include the player again."""
    with board_answering("study exclude", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import exclude, first_account, study_named

        with opened.writing() as session:
            study = study_named(session, name)
            excluded = exclude(session, study, player, by=first_account(session))
        answer.results([{"player": player, "excluded": excluded}])
        answer.say(f"{player} is {'excluded' if excluded else 'included again'}")


@app.command("list")
def list_(
    data: DataOption = DATA, database: DatabaseOption = "", as_json: JsonOption = False
) -> None:
    """List the studies, with the number of players."""
    with board_answering("study list", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import study_lines

        with opened.reading() as session:
            lines = study_lines(session)
        answer.results([vars(line) for line in lines])
        for line in lines:
            closed = ", closed" if line.closed else ""
            answer.say(f"{line.name}: {line.n_players} players, {line.n_finished} finished{closed}")


@app.command()
def export(
    name: StudyArgument,
    out: Annotated[Path, typer.Argument(help="A folder for the files.")],
    identifiers: Annotated[
        bool,
        typer.Option("--identifiers", help="Write identifiers and completion codes, too."),
    ] = False,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Write tidy tables with a codebook, a transcript and a run folder of a study."""
    with board_answering("study export", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.export import write_study
        from gnomon_board.studies.store import study_named

        with opened.reading() as session:
            study = study_named(session, name)
            paths = write_study(session, study, out, identifiers=identifiers)
        answer.results([{"path": str(path)} for path in paths])
        for path in paths:
            answer.say(str(path))


@app.command()
def invite(
    name: StudyArgument,
    public_url: UrlOption = _URL,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Print a new invitation to a study, closed or not; the one before ends."""
    with board_answering("study invite", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import first_account, invite_anew, study_named

        with opened.writing() as session:
            study = study_named(session, name)
            key = invite_anew(session, study, by=first_account(session))
        link = f"{public_url.rstrip('/')}/join/{key}"
        answer.results([{"study": name, "invitation": link}])
        answer.say(f"invitation, shown only now: {link}")


@app.command()
def close(
    name: StudyArgument,
    data: DataOption = DATA,
    database: DatabaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Close a study to new players; those who have begun may finish."""
    with board_answering("study close", data, database, as_json) as (answer, opened):
        from gnomon_board.studies.store import close_study, first_account, study_named

        with opened.writing() as session:
            close_study(session, study_named(session, name), by=first_account(session))
        answer.results([{"study": name, "closed": True}])
        answer.say(f"study {name} is closed")
