"""Studies in the database: creation, invitations, players, closing.

These functions run on the server's machine, and are recorded in the audit log.
"""

from __future__ import annotations

import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_name
from gnomon_board.database import note
from gnomon_board.errors import Conflict, Missing, Refusal
from gnomon_board.schema import ServerValue, Study, now
from gnomon_board.studies.plan import StudyPlan
from gnomon_board.studies.plan_check import check_plan
from gnomon_board.tokens import digest_of


def make_study(session: Session, plan: StudyPlan) -> tuple[Study, str]:
    """Add a study, and return its row and the key of its invitation, which is not stored.

    Raises Refusal: the plan has an error, or a study of that name exists.
    """
    for finding in check_plan(plan).findings:
        if finding.severity == "error":
            raise Refusal(f"plan: {finding.where}: {finding.message}")
    if session.scalar(select(Study).where(Study.name == plan.name)) is not None:
        raise Conflict(f"there is a study {plan.name!r} already")
    key = secrets.token_urlsafe(24)
    study = Study(
        name=plan.name,
        title=clean_name(plan.title, "title"),
        plan=plan.model_dump(mode="json"),
        invitation=digest_of(key),
    )
    session.add(study)
    session.flush()
    note(session, "study made", "study", study.id, public=False, name=plan.name)
    return study, key


# -- invitations and players -----------------------------------------------------------------------

#: Name of the server's public address among its values.
ADDRESS = "address"


def server_address(session: Session) -> str:
    """Return the public address that the server had when it was last started."""
    found = session.get(ServerValue, ADDRESS)
    return "http://127.0.0.1:8080" if found is None else found.value


def invite_anew(session: Session, study: Study) -> str:
    """Return the key of a new invitation, which opens the study again and ends the one before.

    Players who have begun keep their own keys.
    """
    key = secrets.token_urlsafe(24)
    study.invitation, study.closes_at = digest_of(key), None
    note(session, "study invites anew", "study", study.id, public=False, name=study.name)
    return key


def close_study(session: Session, study: Study) -> None:
    """Close a study to new players; those who have begun may finish."""
    if study.is_closed:
        raise Conflict(f"study {study.name!r} is closed already")
    study.closes_at = now()
    note(session, "study closed", "study", study.id, public=False, name=study.name)


def exclude(session: Session, study: Study, player: str, *, undo: bool = False) -> None:
    """Exclude a player from balancing and exports, or with ``undo`` include the player again."""
    found = next((each for each in study.assignments if each.player == player), None)
    if found is None:
        raise Missing(f"study {study.name!r} has no player {player[:64]!r}")
    if undo == (found.excluded_at is None):
        raise Conflict(f"{player} is {'not excluded' if undo else 'excluded already'}")
    found.excluded_at = None if undo else now()
    action = "player restored" if undo else "player excluded"
    note(session, action, "study", study.id, public=False, player=player)
