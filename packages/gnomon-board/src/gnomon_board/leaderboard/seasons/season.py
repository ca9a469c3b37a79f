"""Seasons in the database: creation with a commitment to hidden rules, and the reveal."""

from __future__ import annotations

import datetime
import secrets

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.accounts import clean_text, note
from gnomon_board.database.columns import now
from gnomon_board.database.schema import Season, SeasonRule
from gnomon_board.errors import Conflict, NotAllowed
from gnomon_board.leaderboard.seasons.commitment import Reveal, commit, new_salt
from gnomon_board.leaderboard.seasons.season_plan import SeasonPlan
from gohr.experiments import RuleEntry


def secret_rng() -> np.random.Generator:
    """Return a generator whose seed nobody can guess: for rules that are to stay hidden."""
    return np.random.default_rng(secrets.randbits(256))


def create_season(session: Session, plan: SeasonPlan) -> Season:
    """Put a season on the board, with the commitment to its hidden rules if it has any.

    Raises Refusal: there is a season of this name, or a text cannot be shown.
    """
    if session.scalar(select(Season.id).where(Season.name == plan.name)) is not None:
        raise Conflict(f"there is a season {plan.name!r} already")
    hidden = plan.hidden_rules
    salt = new_salt() if hidden else None
    season = Season(
        name=plan.name,
        title=clean_text(plan.title, "title"),
        description=clean_text(plan.description),
        division=plan.division,
        board=dict(plan.board),
        trials=plan.trials,
        episodes=plan.episodes,
        horizon=plan.horizon,
        rules_per_attempt=plan.rules_per_attempt,
        max_attempts=plan.max_attempts,
        opens_at=plan.opens_at,
        closes_at=plan.closes_at,
        salt=salt,
        commitment=None if salt is None else commit(plan.name, hidden, salt),
        rules=[
            SeasonRule(
                position=position,
                name=rule.name,
                text=rule.text,
                family=rule.family,
                tags=list(rule.tags),
                visibility="hidden" if rule.hidden else "public",
            )
            for position, rule in enumerate(plan.rules)
        ],
    )
    session.add(season)
    session.flush()
    note(
        session,
        "season made",
        "season",
        season.id,
        name=season.name,
        division=season.division,
        commitment=season.commitment,
    )
    return season


def reveal_season(session: Session, season: Season, *, early: bool = False) -> Reveal:
    """Publish the hidden rules and the salt; from now on nobody plays them for the board.

    A season that is still open is closed only if ``early``.

    Raises Refusal: the season has nothing to reveal, or is still open.
    """
    if season.commitment is None:
        raise NotAllowed(f"season {season.name} has no hidden rules")
    if season.revealed_at is None:
        moment = now()
        if not _is_over(season, moment) and not early:
            until = f" until {season.closes_at:%Y-%m-%d %H:%M} UTC" if season.closes_at else ""
            raise NotAllowed(f"season {season.name} is open{until}; revealing would end it")
        season.revealed_at = moment
        season.closes_at = min(season.closes_at or moment, moment)
        season.touch()
        note(session, "season revealed", "season", season.id, name=season.name)
    return reveal_of(season)


def _is_over(season: Season, moment: datetime.datetime) -> bool:
    return season.closes_at is not None and season.closes_at <= moment


def reveal_of(season: Season) -> Reveal:
    """Return what a revealed season has published.

    Raises NotAllowed if it has not been revealed.
    """
    if season.revealed_at is None or season.commitment is None or season.salt is None:
        raise NotAllowed(f"season {season.name} has not been revealed")
    hidden = [rule for rule in season.rules if rule.visibility == "hidden"]
    return Reveal(
        season.name,
        season.commitment,
        season.salt,
        tuple(RuleEntry(rule.name, rule.text) for rule in hidden),
    )
