"""Seasons in the database: look-up, opening times, creation with a commitment, and the reveal."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.commitment import Reveal, RevealedRule, commit
from gnomon_board.database import note
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.schema import Season, SeasonRule, now
from gohr.experiments import RuleEntry


def find_rule(season: Season, name: str) -> SeasonRule:
    """Return a rule of a season; raise :class:`Missing` if there is none."""
    for rule in season.rules:
        if rule.name == name:
            return rule
    raise Missing(f"season {season.name} has no rule {name[:64]!r}")


def why_closed(season: Season) -> str:
    """Return when a season opens, or closed; empty if it takes entries now."""
    if _is_over(season):
        return f"closed on {season.closes_at:%Y-%m-%d %H:%M} UTC"
    if season.opens_at is not None and now() < season.opens_at:
        return f"opens on {season.opens_at:%Y-%m-%d %H:%M} UTC"
    return ""


def check_open(season: Season) -> None:
    """Raise :class:`NotAllowed` before the season opens and after it closes."""
    if why := why_closed(season):
        raise NotAllowed(f"season {season.name} {why}")


def create_season(session: Session, season: Season) -> None:
    """Add a season to the board, with the commitment to its hidden rules if it has any."""
    name = season.name
    if session.scalar(select(Season.id).where(Season.name == name)) is not None:
        raise Conflict(f"there is a season {name!r} already")
    if hidden := [RuleEntry(x.name, x.text) for x in season.rules if x.visibility == "hidden"]:
        season.salt = secrets.token_hex(32)
        season.commitment = commit(name, hidden, season.salt)
    session.add(season)
    session.flush()
    detail: dict[str, Any] = {"name": name, "division": season.division}
    note(session, "season made", "season", season.id, **detail, commitment=season.commitment)


def close_season(session: Session, season: Season) -> None:
    """Close a season now; raise Conflict if it is closed already."""
    if _is_over(season):
        raise Conflict(f"season {season.name} {why_closed(season)} already")
    season.closes_at = now()
    season.touch()
    note(session, "season closed", "season", season.id, name=season.name)


def _is_over(season: Season) -> bool:
    return season.closes_at is not None and season.closes_at <= now()


def reveal_season(session: Session, season: Season) -> Reveal:
    """Publish the hidden rules and the salt of a closed season, and return them."""
    if season.commitment is None:
        raise NotAllowed(f"season {season.name} has no hidden rules")
    if season.revealed_at is None:
        if not _is_over(season):
            until = f" until {season.closes_at:%Y-%m-%d %H:%M} UTC" if season.closes_at else ""
            raise NotAllowed(
                f"season {season.name} is open{until}; close it first (gnomon-board season close)"
            )
        season.revealed_at = now()
        season.touch()
        note(session, "season revealed", "season", season.id, name=season.name)
    return Reveal(
        name=season.name,
        commitment=season.commitment,
        salt=str(season.salt),
        rules=[RevealedRule(name=rule.name, text=rule.text) for rule in season.rules],
    )
