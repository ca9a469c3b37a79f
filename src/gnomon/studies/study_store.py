"""Studies in the database: creation, invitations, players, closing, export.

A browser needs one key and no cookie: the key of a player leads to the key of the first game, and
each game's key to the next one's. Who has one can go on, and cannot go back.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import io
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon._io.atomic_file import write_atomically
from gnomon.database.columns import now
from gnomon.database.schema import (
    Account,
    PlayAttempt,
    PlaySession,
    Season,
    SeasonRule,
    Study,
    StudyAssignment,
)
from gnomon.errors import UnknownNameError
from gnomon.leaderboard.accounts.audit_log import note
from gnomon.leaderboard.accounts.names import clean_name, clean_text
from gnomon.leaderboard.accounts.tokens import digest_of
from gnomon.leaderboard.refusals import Conflict, Missing, NotAllowed, Refusal
from gnomon.studies.game_store import begin_game, rebuild_game
from gnomon.studies.playable_rules import Puzzle, puzzle_named
from gnomon.studies.study_plan import PlayerCount, StudyPlan, next_list
from gnomon.studies.transcript import PlayedGame, play_scores, transcript_text


def next_key(key: str) -> str:
    """Return the key that follows a key; the way back cannot be found."""
    digest = hashlib.sha256(b"next " + key.encode()).digest()
    return base64.urlsafe_b64encode(digest)[:32].decode()


def make_study(session: Session, plan: StudyPlan, *, by: int) -> tuple[Study, str]:
    """Add a study, and return its row and the key of its invitation, which is kept nowhere.

    Raises Refusal: the plan names a rule that there is not, or there is a study of that name.
    """
    for rule in plan.rules:
        _puzzle(session, rule, 0)
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
    """Check a text piece by piece: it may be longer than a description."""
    return "\n".join(clean_text(line, "consent") for line in consent.splitlines())


def find_invitation(session: Session, key: str) -> Study:
    """Return the study that a key invites to.

    Raises Missing, NotAllowed: there is none, or it is over.
    """
    study = session.scalar(select(Study).where(Study.invitation == digest_of(key)))
    if study is None:
        raise Missing("there is no such invitation")
    if study.closes_at is not None and study.closes_at <= now():
        raise NotAllowed("this study is over")
    return study


def join(session: Session, study: Study) -> str:
    """Take in a player who agreed, with the list that has the fewest; return the player's key."""
    plan = StudyPlan.from_record(study.plan)
    # Two who come at once are dealt with one after the other.
    session.get_one(Study, study.id, with_for_update=True)
    counts = _counts(session, study)
    key = secrets.token_urlsafe(24)
    session.add(
        StudyAssignment(
            study_id=study.id,
            key=digest_of(key),
            player=f"{study.name}-{len(counts) + 1:04d}",
            rule_list=next_list(list(plan.lists), counts),
            consented_at=now(),
        )
    )
    session.flush()
    return key


def _counts(session: Session, study: Study) -> list[PlayerCount]:
    """Return all players of a study as balancing sees them."""
    played = {
        assignment: (n, last)
        for assignment, n, last in session.execute(
            select(PlaySession.assignment_id, func.count(PlayAttempt.id), func.max(PlayAttempt.at))
            .join(PlayAttempt, PlayAttempt.session_id == PlaySession.id)
            .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
            .where(StudyAssignment.study_id == study.id)
            .group_by(PlaySession.assignment_id)
        )
    }
    at = now()
    found = []
    for assignment in _assignments(session, study):
        n, last = played.get(assignment.id, (0, assignment.created_at))
        idle_s = (at - last).total_seconds()
        done = assignment.finished_at is not None
        found.append(PlayerCount(assignment.rule_list, done, n, idle_s))
    return found


def _assignments(session: Session, study: Study) -> list[StudyAssignment]:
    query = select(StudyAssignment).where(StudyAssignment.study_id == study.id)
    return list(session.scalars(query.order_by(StudyAssignment.id)))


def find_player(session: Session, key: str) -> StudyAssignment:
    """Return the player of a key; a :class:`Missing` tells that there is none."""
    query = select(StudyAssignment).where(StudyAssignment.key == digest_of(key))
    found = session.scalar(query)
    if found is None:
        raise Missing("there is no such player")
    return found


def go_on(session: Session, assignment: StudyAssignment, series: int, key: str) -> str | None:
    """Begin the game that comes as number ``series``, or find it if it has begun.

    Series count from 0. ``key`` is that of the player, for the first game; else of the game before,
    which must be over.

    Raises Conflict: the game before is in progress.

    Returns the key of the game; None if the list has come to its end.
    """
    plan = StudyPlan.from_record(assignment.study.plan)
    rules = plan.lists[assignment.rule_list]
    if series:
        before = session.scalar(select(PlaySession).where(PlaySession.key == digest_of(key)))
        if before is None or before.state != "ended":
            raise Conflict("expected a game that is over; this one is in progress")
    assignment.n_played = max(assignment.n_played, series)
    if series >= len(rules):
        assignment.finished_at = assignment.finished_at or now()
        return None
    following = next_key(key)
    query = select(PlaySession).where(PlaySession.key == digest_of(following))
    if session.scalar(query) is None:
        begin_game(
            session,
            replace(
                _puzzle(session, rules[series], series),
                episodes=plan.episodes,
                horizon=plan.horizon,
                board=plan.board.spec(),
            ),
            memory_aid=plan.memory_aid,
            assignment=assignment,
            series=series,
            key=following,
        )
    return following


def _puzzle(session: Session, rule: str, series: int) -> Puzzle:
    """Return a rule of a plan: of the catalogue, or ``season/rule``; players see its place only."""
    shown = f"Puzzle {series + 1}"
    season, slash, name = rule.partition("/")
    if slash:
        found = session.scalar(
            select(SeasonRule)
            .join(Season, SeasonRule.season_id == Season.id)
            .where(Season.name == season, SeasonRule.name == name)
        )
        if found is None:
            raise Refusal(f"plan: there is no rule {rule[:128]!r}")
        return Puzzle(found.name, shown, found.text, found.id)
    try:
        known = puzzle_named(rule)
    except UnknownNameError as error:
        raise Refusal(f"plan: {error}") from None
    return Puzzle(known.rule, shown, known.text)


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


@dataclass(frozen=True)
class PlayerRecord:
    """A player of a study, by pseudonym."""

    player: str
    rule_list: str
    n_played: int
    n_attempts: int
    joined_at: datetime.datetime
    finished_at: datetime.datetime | None


def players_of(session: Session, study: Study) -> list[PlayerRecord]:
    """Return the players of a study in the order in which they came."""
    counts = _counts(session, study)
    return [
        PlayerRecord(
            a.player, a.rule_list, a.n_played, count.n_attempts, a.created_at, a.finished_at
        )
        for a, count in zip(_assignments(session, study), counts, strict=True)
    ]


def games_of(session: Session, study: Study) -> list[PlayedGame]:
    """Return every game of a study, player by player."""
    rows = session.execute(
        select(PlaySession, StudyAssignment)
        .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
        .where(StudyAssignment.study_id == study.id)
        .order_by(StudyAssignment.id, PlaySession.series)
    )
    return [
        PlayedGame(a.player, a.rule_list, row.series, row.rule, rebuild_game(session, row).session)
        for row, a in rows
    ]


def study_named(session: Session, name: str) -> Study:
    """Return a study; a :class:`Missing` tells that there is none."""
    study = session.scalar(select(Study).where(Study.name == name))
    if study is None:
        raise Missing(f"there is no study {name[:64]!r}")
    return study


def first_account(session: Session) -> int:
    """Return the account that the server began with: whoever sits at its machine acts for it."""
    found = session.scalar(select(Account.id).order_by(Account.id).limit(1))
    if found is None:
        raise Missing("there is no account yet; start the server once with gnomon serve")
    return found


def invite_anew(session: Session, study: Study, *, by: int) -> str:
    """Return the key of a new invitation; the one before leads nowhere from now on.

    Whoever has begun is not touched: players have keys of their own.
    """
    key = secrets.token_urlsafe(24)
    study.invitation = digest_of(key)
    study.closes_at = None
    note(session, "study invites anew", "study", study.id, by=by, public=False, name=study.name)
    return key


def close_study(session: Session, study: Study, *, by: int) -> None:
    """Let nobody else join; whoever has begun may play to the end.

    Raises Conflict: it is closed.
    """
    if study.closes_at is not None and study.closes_at <= now():
        raise Conflict(f"study {study.name!r} is closed already")
    study.closes_at = now()
    note(session, "study closed", "study", study.id, by=by, public=False, name=study.name)


def study_transcript(session: Session, study: Study) -> str:
    """Return every attempt, in the detailed format of the reference game server."""
    return transcript_text(games_of(session, study))


def scores_text(session: Session, study: Study) -> str:
    """Return the scores as a tidy table in CSV: players as algorithms, rules as tasks.

    Raises Conflict: nobody has played yet.
    """
    games = games_of(session, study)
    if not any(game.session.attempts for game in games):
        raise Conflict("nobody has played yet")
    out = io.BytesIO()
    play_scores(games).frame.write_csv(out)
    return out.getvalue().decode()


def write_study(session: Session, study: Study, folder: Path) -> list[Path]:
    """Write both files into a folder, and return their paths."""
    texts = {
        f"{study.name}-transcript.csv": study_transcript(session, study),
        f"{study.name}-scores.csv": scores_text(session, study),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    return [folder / name for name in texts]
