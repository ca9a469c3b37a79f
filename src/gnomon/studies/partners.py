"""Partners in the database: who waits for whom, who has gone, and what two write to each other.

Two who play together share one game. It belongs to who joined the study first, in seat 0; the other
has a key to it too. One who is the first to come waits in a game whose other seat is open.
"""

from __future__ import annotations

import datetime
import secrets
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.database.columns import now
from gnomon.database.schema import PlaySession as Row
from gnomon.database.schema import Study, StudyAnswer, StudyAssignment
from gnomon.leaderboard.accounts.tokens import digest_of
from gnomon.leaderboard.refusals import Conflict
from gnomon.studies.game_store import (
    StoredGame,
    begin_game,
    end_study,
    find_game,
    rebuild_game,
    row_of,
    store_changes,
)
from gnomon.studies.plan.series_plan import PartnerPlan
from gnomon.studies.plan.study_plan import StudyPlan
from gnomon.studies.play.turns import Seats
from gnomon.studies.playable_rules import Puzzle

#: Who waits says so every few seconds; after so many in silence nobody is paired with them.
_PRESENT_S = 12.0
MOST_MESSAGE = 500


@dataclass(frozen=True, slots=True)
class Message:
    """What one of two has written, ``mine`` or the partner's, in the order of coming."""

    mine: bool
    text: str


# -- who plays with whom ---------------------------------------------------------------------------


def begin_shared(
    session: Session,
    puzzle: Puzzle,
    player: StudyAssignment,
    series: int,
    before: Row | None,
    key: str,
    **more: Any,
) -> None:
    """Begin a series of two for a player, or take the seat in the partner's game.

    ``before`` is the game of the series before, and ``key`` that of the new one. ``more`` is kept
    with the settings.
    """
    plan = puzzle.terms.partner
    assert plan is not None
    seats = Seats(plan.play, _beginner(session, plan, series, before))
    partner = _partner_of(session, player)
    if plan.kind == "person" and partner is not None:
        _begin_with(session, puzzle, (player, partner), series, key, seats, **more)
        return
    waits = plan.kind == "person" and not player.pairing
    alone = plan.kind == "person" and not waits and plan.otherwise != "bot"
    seats = replace(seats, bot=None if waits else 1, is_open=waits)
    begin_game(
        session,
        puzzle,
        assignment=player,
        series=series,
        key=key,
        seats=None if alone else asdict(seats),
        **more,
    )
    session.flush()
    if waits:
        mine = row_of(session, key)
        mine.waiting_at = now()
        pair_up(session, mine)


def _beginner(session: Session, plan: PartnerPlan, series: int, before: Row | None) -> int:
    """Return the seat that begins: each in turn, but among adversaries not who has just won."""
    played = None if before is None else rebuild_game(session, before).session
    if plan.play == "cooperative" or played is None or played.game.seats is None:
        return series % 2
    winners = [seat for seat in (0, 1) if played.is_mastered_by(seat)]
    return 1 - (winners[0] if winners else played.game.seats.begins)


def _partner_of(session: Session, player: StudyAssignment) -> StudyAssignment | None:
    """Return whom a player is paired with, if that one takes part still."""
    if player.pairing != "paired" or player.partner_id is None:
        return None
    partner = session.get_one(StudyAssignment, player.partner_id)
    session.refresh(partner, with_for_update=True)
    if partner.ending not in ("", "finished"):
        player.pairing = "left by partner"
        return None
    return partner


def _begin_with(
    session: Session,
    puzzle: Puzzle,
    pair: tuple[StudyAssignment, StudyAssignment],
    series: int,
    key: str,
    seats: Seats,
    **more: Any,
) -> None:
    """Take a seat in the game of a pair, which whoever comes first begins."""
    host, guest = sorted(pair, key=lambda player: player.id)
    query = select(Row).where(Row.assignment_id == host.id, Row.series == series)
    row = session.scalar(query)
    if row is None:
        # The host's own key is known when the host comes.
        place = begin_game(
            session, puzzle, assignment=host, series=series, seats=asdict(seats), **more
        )
        session.flush()
        row = row_of(session, place)
        row.partner_id = guest.id
    if pair[0] is host:
        row.key = digest_of(key)
    else:
        row.partner_key = digest_of(key)


def pair_up(session: Session, mine: Row) -> bool:
    """Pair one who waits with who has waited longest in the same list; tell whether it is done.

    Of their two games that of the host stays, with both keys. It may have been done meanwhile.
    """
    player = session.get_one(StudyAssignment, mine.assignment_id)
    # Two who come at once are dealt with one after the other.
    session.get_one(Study, player.study_id, with_for_update=True)
    session.flush()
    current = session.get(Row, mine.id, populate_existing=True)
    if current is None or current.waiting_at is None:
        return True
    mine.waiting_at = now()
    query = (
        select(Row, StudyAssignment)
        .join(StudyAssignment, Row.assignment_id == StudyAssignment.id)
        .where(
            StudyAssignment.study_id == player.study_id,
            StudyAssignment.rule_list == player.rule_list,
            StudyAssignment.ending == "",
            Row.series == mine.series,
            Row.id != mine.id,
            Row.waiting_at > now() - datetime.timedelta(seconds=_PRESENT_S),
        )
        .order_by(Row.created_at, Row.id)
    )
    found = session.execute(query).first()
    if found is None:
        return False
    (host, owner), (guest, other) = sorted(
        ((mine, player), (found[0], found[1])), key=lambda each: each[1].id
    )
    key = guest.key
    session.delete(guest)
    session.flush()
    host.partner_id, host.partner_key, host.waiting_at = other.id, key, None
    host.settings = {**host.settings, "seats": host.settings["seats"] | {"is_open": False}}
    host.changed_at = now()
    owner.partner_id, other.partner_id = other.id, owner.id
    owner.pairing = other.pairing = "paired"
    return True


# -- who is waited for -----------------------------------------------------------------------------


def patience_s(game: StoredGame) -> float | None:
    """Return for how many seconds more one of two is waited for, None if neither is.

    It is the partner who has not come, or whoever's attempt or guess is due.
    """
    seats, plan = game.session.game.seats, game.session.game.terms.partner
    if seats is None or plan is None or game.is_ended:
        return None
    if seats.is_open:
        return _left(plan.wait_s, game.row.created_at)
    if _awaited(game) is None:
        return None
    return _left(plan.idle_s, game.row.changed_at)


def _awaited(game: StoredGame) -> int | None:
    """Return which of two people the other one waits for."""
    seats, played = game.session.game.seats, game.session
    if seats is None or not seats.has_two_people:
        return None
    if played.state == "playing":
        return played.turn
    due = [seat for seat in (0, 1) if played.state == "board over" and game.guess_due_of(seat)]
    return due[0] if len(due) == 1 else None


def _left(patience: float, since: datetime.datetime) -> float:
    return max(0.0, patience - (now() - since).total_seconds())


def await_partner(
    session: Session, key: str, place: tuple[int, int] | None = None
) -> tuple[StoredGame, bool]:
    """Do what is due of the other side, and return the game and whether anything was done.

    Who waits is paired with whom else waits, or has waited enough; a bot in turn makes its attempt;
    a partner who was waited for long enough has gone. ``place``, board and number from 1, says
    which attempt of a bot is meant; what was asked for twice is done once.
    """
    game = find_game(session, key)
    seats = game.session.game.seats
    if seats is None or game.is_ended:
        return game, False
    if seats.is_open:
        return _wait(session, game, key)
    meant = place is None or place == game.session.next_attempt
    made = game.session.bot_attempt() if meant else None
    if made is not None:
        store_changes(session, game, made)
        return game, True
    if _awaited(game) == 1 - game.seat and patience_s(game) == 0.0:
        depart(session, game, 1 - game.seat, "walked away")
        return find_game(session, key), True
    return game, False


def _wait(session: Session, game: StoredGame, key: str) -> tuple[StoredGame, bool]:
    if pair_up(session, game.row):
        session.flush()
        return find_game(session, key), True
    if patience_s(game) != 0.0:
        return game, False
    plan, seats = game.session.game.terms.partner, game.session.game.seats
    assert plan is not None
    assert seats is not None
    player = _player(session, game.row.assignment_id)
    player.pairing = "nobody came"
    game.row.waiting_at = None
    _go_on_without(session, game, player, Seats(plan.play, seats.begins), plan)
    return find_game(session, key), True


def _player(session: Session, number: int | None) -> StudyAssignment:
    return session.get_one(StudyAssignment, number)


def depart(session: Session, game: StoredGame, gone: int, how: str) -> None:
    """End the study for one of two, and go on for the other as the plan says.

    ``how`` is kept as the pairing of who has gone.
    """
    row, seats = game.row, game.session.game.seats
    plan = game.session.game.terms.partner
    assert seats is not None
    assert plan is not None
    ids = row.assignment_id, row.partner_id
    leaver, stayer = _player(session, ids[gone]), _player(session, ids[1 - gone])
    leaver.pairing, stayer.pairing = how, "left by partner"
    if not leaver.ending:
        end_study(leaver, StudyPlan.from_record(leaver.study.plan), "left")
    left = replace(seats, gone=gone, gone_at=len(game.session.attempts))
    _go_on_without(session, game, stayer, left, plan)


def _go_on_without(
    session: Session, game: StoredGame, player: StudyAssignment, seats: Seats, plan: PartnerPlan
) -> None:
    """Go on alone, or with a bot in the place of who has gone or never came, or end the study."""
    alone = None if seats.gone is None else seats
    if plan.otherwise == "bot":
        game.session.reseat(replace(seats, bot=1 if seats.gone is None else seats.gone))
    else:
        game.session.reseat(alone)
    if plan.otherwise == "leave":
        game.session.gave_up = True
        end_study(player, StudyPlan.from_record(player.study.plan), "unpaired")
    session.flush()
    store_changes(session, game)
    session.refresh(game.row)


def leave_partner(session: Session, player: StudyAssignment) -> list[Row]:
    """Tell the partner of who leaves the study; return the game in which they were, if any."""
    query = select(Row).where(
        Row.state == "playing", (Row.assignment_id == player.id) | (Row.partner_id == player.id)
    )
    rows = session.scalars(query).all()
    for row in rows:
        game = rebuild_game(session, row)
        seats = game.session.game.seats
        if seats is not None and seats.has_two_people and row.partner_id is not None:
            depart(session, game, int(row.partner_id == player.id), "left")
    return list(rows)


# -- messages --------------------------------------------------------------------------------------


def messages_of(session: Session, game: StoredGame) -> tuple[Message, ...]:
    """Return what the two of a game have written to each other in this series."""
    plan = game.session.game.terms.partner
    if plan is None or not plan.chat or game.row.partner_id is None:
        return ()
    query = select(StudyAnswer.assignment_id, StudyAnswer.text).where(
        StudyAnswer.assignment_id.in_((game.row.assignment_id, game.row.partner_id)),
        StudyAnswer.page == "chat",
        StudyAnswer.series == game.row.series,
    )
    rows = session.execute(query.order_by(StudyAnswer.id))
    return tuple(Message(player == game.player_id, text) for player, text in rows)


def may_write(game: StoredGame) -> bool:
    """Tell whether there is somebody to write to, and the plan lets the two."""
    seats, plan = game.session.game.seats, game.session.game.terms.partner
    if seats is None or plan is None or seats.is_open or game.is_ended:
        return False
    return plan.chat and seats.has_two_people


def send_message(session: Session, game: StoredGame, text: str, name: str = "") -> None:
    """Keep what a player writes to the partner; sent twice under one name, it is kept once.

    Raises Conflict: there is nobody to write to, or the plan does not let them.
    """
    clean = text.replace("\0", "").strip()[:MOST_MESSAGE]
    if not may_write(game):
        raise Conflict("there is nobody to write to")
    player = session.get_one(StudyAssignment, game.player_id, with_for_update=True)
    known = select(StudyAnswer.id).where(
        StudyAnswer.assignment_id == player.id, StudyAnswer.page == "chat", StudyAnswer.name == name
    )
    if not clean or (name and session.scalar(known) is not None):
        return
    session.add(
        StudyAnswer(
            assignment_id=player.id,
            page="chat",
            name=name or secrets.token_hex(8),
            text=clean,
            series=game.row.series,
            episode=game.session.episode,
            attempt=game.session.next_attempt[1] - 1,
        )
    )
    session.flush()
