"""``gnomon-board study``: creation, invitations, players, export."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gnomon.cli import Answer, JsonOption, answering
from gnomon.errors import counted
from gnomon_board.cli.serving import DATA, DataOption, board_answering

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from gnomon_board.schema import Study

app = typer.Typer(
    name="study",
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create studies and export their data.",
)
PlanArgument = Annotated[Path, typer.Argument(help="The plan of the study: a TOML file.")]
StudyArgument = Annotated[str, typer.Argument(help="The study.")]
PlayerArgument = Annotated[str, typer.Argument(help="The pseudonym of a player.")]
UrlOption = Annotated[
    str, typer.Option(help="Address of the server; by default the one at which it last started.")
]


@contextmanager
def _study(
    verb: str, name: str, data: Path, as_json: bool
) -> Iterator[tuple[Answer, Session, Study]]:
    """Answer a verb on a study, in one transaction."""
    with board_answering(f"study {verb}", data, as_json) as (answer, opened):
        from gnomon_board.database import find_named
        from gnomon_board.schema import Study

        with opened.writing() as session:
            yield answer, session, find_named(session, Study, name)


@app.command()
def check(plan: PlanArgument, as_json: JsonOption = False) -> None:
    """List the screens, errors and warnings of a plan.

    Exit status: 0 if there are only warnings and notes, 1 for an error, 2 for an unreadable file.

    Example:
      gnomon-board study check plan.toml
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
    public_url: UrlOption = "",
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Create a study, and print its invitation, which is shown once.

    A board is created if there is none.

    Example:
      gnomon-board study new plan.toml --data board --public-url https://board.example.org
    """
    from gnomon_board.studies.induction import make_first_evidence
    from gnomon_board.studies.plan import read_plan
    from gnomon_board.studies.store import make_study

    read = read_plan(plan)
    with board_answering("study new", data, as_json, create=True) as (answer, opened):
        with opened.writing() as session:
            study, key = make_study(session, read)
            invitation = _join(session, public_url, key)
        record = {"id": study.id, "study": study.name, "invitation": invitation}
        make_first_evidence(read)
        answer.results([record])
        lists, rules = counted(len(read.lists), "list"), counted(len(read.rules), "rule")
        answer.say(f"study {read.name}: {lists}, {rules}")
        answer.say(f"invitation, shown only now: {invitation}")


def _join(session: Session, public_url: str, key: str) -> str:
    from gnomon_board.studies.store import server_address

    return f"{(public_url or server_address(session)).rstrip('/')}/join/{key}"


@app.command()
def invite(
    name: StudyArgument,
    public_url: UrlOption = "",
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Print a new invitation; the old one becomes invalid.

    Example:
      gnomon-board study invite pilot --data board
    """
    from gnomon_board.studies.store import invite_anew

    with _study("invite", name, data, as_json) as (answer, session, study):
        invitation = _join(session, public_url, invite_anew(session, study))
        answer.results([{"study": name, "invitation": invitation}])
        answer.say(f"invitation, shown only now: {invitation}")


@app.command()
def exclude(
    name: StudyArgument,
    player: PlayerArgument,
    undo: Annotated[bool, typer.Option("--undo", help="Include the player again.")] = False,
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Exclude a player from the data of a study.

    Example:
      gnomon-board study exclude pilot P7 --data board
    """
    from gnomon_board.studies.store import exclude

    with _study("exclude", name, data, as_json) as (answer, session, study):
        exclude(session, study, player, undo=undo)
        answer.results([{"player": player, "excluded": not undo}])
        answer.say(f"{player} is {'included again' if undo else 'excluded'}")


@app.command()
def export(
    name: StudyArgument,
    out: Annotated[Path, typer.Argument(help="A folder for the files.")],
    identifiers: Annotated[
        bool, typer.Option("--identifiers", help="Write identifiers and completion codes, too.")
    ] = False,
    data: DataOption = DATA,
    as_json: JsonOption = False,
) -> None:
    """Export a study: tables, a transcript and a run folder.

    Example:
      gnomon-board study export pilot pilot --data board
    """
    with board_answering("study export", data, as_json) as (answer, opened):
        from gnomon_board.studies.export import write_study

        with opened.reading() as session:
            paths = write_study(session, name, out, identifiers=identifiers)
        answer.results([{"path": str(path)} for path in paths])
        for path in paths:
            answer.say(str(path))


@app.command()
def close(name: StudyArgument, data: DataOption = DATA, as_json: JsonOption = False) -> None:
    """Close a study to new players; those who have begun may finish.

    Example:
      gnomon-board study close pilot --data board
    """
    from gnomon_board.studies.store import close_study

    with _study("close", name, data, as_json) as (answer, session, study):
        close_study(session, study)
        answer.results([{"study": name, "closed": True}])
        answer.say(f"study {name} is closed")
