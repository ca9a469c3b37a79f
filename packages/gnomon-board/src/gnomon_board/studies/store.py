"""Studies in the database: creation, invitations, players, closing, export."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_name, clean_text, note
from gnomon_board.database.columns import now
from gnomon_board.database.schema import Account, PlaySession, Study, StudyAssignment
from gnomon_board.errors import Conflict, Missing, Refusal
from gnomon_board.studies.participants import add_player
from gnomon_board.studies.plan import StudyPlan
from gnomon_board.studies.plan_check import check_plan
from gnomon_board.tokens import digest_of


def make_study(session: Session, plan: StudyPlan, *, by: int) -> tuple[Study, str]:
    """Add a study, and return its row and the key of its invitation, which is not stored.

    Raises Refusal: a rule of the plan does not exist, or a study of that name does.
    """
    for finding in check_plan(plan).findings:
        if finding.severity == "error":
            raise Refusal(f"plan: {finding.where}: {finding.message}")
    if session.scalar(select(Study).where(Study.name == plan.name)) is not None:
        raise Conflict(f"there is a study {plan.name!r} already")
    key = secrets.token_urlsafe(24)
    study = Study(
        account_id=by,
        name=plan.name,
        title=clean_name(plan.title, "title"),
        consent=_clean(plan.consent),
        plan=plan.model_dump(mode="json"),
        invitation=digest_of(key),
    )
    session.add(study)
    session.flush()
    note(session, "study made", "study", study.id, by=by, public=False, name=plan.name)
    return study, key


def _clean(consent: str) -> str:
    """Check a text in pieces, since it may be longer than a description."""
    return "\n".join(clean_text(line, "consent") for line in consent.splitlines())


@dataclass(frozen=True)
class StudyLine:
    """A study among others."""

    id: int
    name: str
    title: str
    n_players: int
    n_finished: int
    closed: bool

    @classmethod
    def of(cls, study: Study) -> StudyLine:
        """Count the players of a study."""
        finished = sum(player.finished_at is not None for player in study.assignments)
        closed = study.closes_at is not None and study.closes_at <= now()
        return cls(study.id, study.name, study.title, len(study.assignments), finished, closed)


def study_lines(session: Session) -> list[StudyLine]:
    """Return all studies, the newest first."""
    return [
        StudyLine.of(study) for study in session.scalars(select(Study).order_by(Study.id.desc()))
    ]


def points_of_players(session: Session, study: Study) -> dict[int, int]:
    """Return the points of each player of a study."""
    found: dict[int, int] = {}
    rows = session.execute(
        select(StudyAssignment.id, PlaySession.settings)
        .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
        .where(StudyAssignment.study_id == study.id)
    )
    for player, settings in rows:
        found[player] = found.get(player, 0) + settings.get("points", 0)
    return found


def exclude(session: Session, study: Study, player: str, *, by: int) -> bool:
    """Exclude a player from balancing, or include the player again; return whether excluded.

    Raises Missing: there is no such player.
    """
    found = _player_named(study, player)
    found.excluded_at = now() if found.excluded_at is None else None
    out = found.excluded_at is not None
    what = "player excluded" if out else "player restored"
    note(session, what, "study", study.id, by=by, public=False, player=player)
    return out


def new_link(session: Session, study: Study, player: str, *, by: int) -> str:
    """Return a new key for a player who lost the old one, which ends.

    The player continues at the same step.

    Raises Missing: there is no such player.
    """
    key = secrets.token_urlsafe(24)
    _player_named(study, player).key = digest_of(key)
    note(session, "personal link renewed", "study", study.id, by=by, public=False, player=player)
    return key


def _player_named(study: Study, player: str) -> StudyAssignment:
    found = next((each for each in study.assignments if each.player == player), None)
    if found is None:
        raise Missing(f"study {study.name!r} has no player {player[:64]!r}")
    return found


def personal_links(session: Session, study: Study, n: int, *, by: int) -> list[tuple[str, str]]:
    """Add players, and return the pseudonym and key of each, for personal links.

    Raises Conflict: the study is closed.
    """
    if study.closes_at is not None and study.closes_at <= now():
        raise Conflict(f"study {study.name!r} is closed")
    # Locked, so that players are numbered consecutively.
    session.get_one(Study, study.id, with_for_update=True)
    found = []
    for _ in range(n):
        key = secrets.token_urlsafe(24)
        found.append((add_player(session, study, key).player, key))
    note(session, "personal links made", "study", study.id, by=by, public=False, n=n)
    return found


def study_named(session: Session, name: str) -> Study:
    """Return a study; raise Missing if there is none."""
    study = session.scalar(select(Study).where(Study.name == name))
    if study is None:
        raise Missing(f"there is no study {name[:64]!r}")
    return study


def first_account(session: Session) -> int:
    """Return the first account of the server, as which its commands act."""
    found = session.scalar(select(Account.id).order_by(Account.id).limit(1))
    if found is None:
        raise Missing("there is no account yet; start the server once with gnomon-board serve")
    return found


def invite_anew(session: Session, study: Study, *, by: int) -> str:
    """Return the key of a new invitation, and invalidate the previous one.

    Players who have begun keep their own keys.
    """
    key = secrets.token_urlsafe(24)
    study.invitation = digest_of(key)
    study.closes_at = None
    note(session, "study invites anew", "study", study.id, by=by, public=False, name=study.name)
    return key


def close_study(session: Session, study: Study, *, by: int) -> None:
    """Close a study to new players; those who have begun may finish.

    Raises Conflict: it is already closed.
    """
    if study.closes_at is not None and study.closes_at <= now():
        raise Conflict(f"study {study.name!r} is closed already")
    study.closes_at = now()
    note(session, "study closed", "study", study.id, by=by, public=False, name=study.name)
