"""Tidy tables of a study, by pseudonym, and what their columns mean."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.database.schema import Study, StudyAnswer
from gnomon.studies.export.transcript import PlayedGame, episode_name, first_attempts, is_followed
from gnomon.studies.participants import player_counts
from gnomon.studies.play.bot_assist import Hint
from gnomon.studies.play.play_records import OUTCOME_WORDS, Attempt, ClientTimes
from gnomon.studies.study_store import points_of_players

_TEXT, _WHOLE, _REAL, _TIME = pl.String, pl.Int64, pl.Float64, pl.Datetime("ms", "UTC")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a tidy table, as the codebook tells of it."""

    name: str
    kind: Any
    meaning: str
    unit: str = ""


_GUARDED = (
    "In CSV an apostrophe stands before what a spreadsheet takes for a formula; in Parquet not"
)
#: One row for each player, without anything that tells who it is.
PARTICIPANTS = (
    Column("player", _TEXT, "pseudonym"),
    Column("rule_list", _TEXT, "list of rules; empty before the consent"),
    Column("joined_at", _TIME, "when the player came", "UTC"),
    Column("consented_at", _TIME, "when the player agreed to take part", "UTC"),
    Column("finished_at", _TIME, "when the last board was over", "UTC"),
    Column("ending", _TEXT, "finished, left, screened out or unpaired; empty before"),
    Column("partner", _TEXT, "pseudonym of the person who played at the same boards"),
    Column(
        "pairing",
        _TEXT,
        "paired, nobody came, left by partner, left (the partner), or walked away from the turn; "
        "empty: not paired with people",
    ),
    Column("n_series", _WHOLE, "series that were played to their end"),
    Column("n_attempts", _WHOLE, "moves and picks"),
    Column("points", _WHOLE, "points of all series, each multiplied by its factor"),
    Column(
        "trial",
        _WHOLE,
        "number of the player's trials in the run folders; a cooperative pair has that of player "
        "0; empty: not in them",
    ),
    Column("excluded", pl.Boolean, "whether the experimenter took the player out"),
)
#: One row for each attempt.
ATTEMPTS = (
    Column("player", _TEXT, "pseudonym"),
    Column("rule_list", _TEXT, "list of rules"),
    Column("series", _WHOLE, "place of the rule in the list, from 0"),
    Column("rule", _TEXT, "name of the rule"),
    Column("episode", _WHOLE, "board of the series, from 0"),
    Column("episode_id", _TEXT, "name of the board in the transcript"),
    Column("mover", _WHOLE, "seat of who made it: 0 the player, 1 the partner, or a bot there"),
    Column("made_by", _TEXT, "pseudonym of who made it, or bot"),
    Column("attempt", _WHOLE, "number on the board, from 1"),
    Column("at", _TIME, "when the server handled it", "UTC"),
    Column("cell", _WHOLE, "1 at the bottom left to 36 at the top right"),
    Column("piece", _WHOLE, "number of the piece on its board; empty for an empty cell"),
    Column("shape", _TEXT, "of the piece; empty for an empty cell"),
    Column("color", _TEXT, "of the piece; empty for an empty cell"),
    Column("image", _TEXT, "path of the picture that the piece is; empty for other pieces"),
    Column("bucket", _WHOLE, "0 at the top left, then clockwise; empty for a pick"),
    Column("outcome", _WHOLE, "0 accepted, 3 empty cell, 4 denied, 7 immovable"),
    Column("outcome_words", _TEXT, "the outcome in words"),
    Column("board_after", _WHOLE, "0 going on, 1 cleared, 2 stalemate"),
    Column("hint_cell", _WHOLE, "cell of the piece that a bot suggested; empty: no hint"),
    Column("hint_bucket", _WHOLE, "bucket that it suggested"),
    Column("followed", pl.Boolean, "whether the attempt is that move; empty: no hint"),
    Column("reaction_s", _REAL, "since the reply before, by the server's clock", "s"),
    Column("client_touch_ms", _WHOLE, "display to first touch, by the player's clock", "ms"),
    Column("client_action_ms", _WHOLE, "display to the attempt, by the player's clock", "ms"),
    Column("client_away_ms", _WHOLE, "of that, while the page was not in front", "ms"),
    Column("client_animation_ms", _WHOLE, "of that, while a piece flew", "ms"),
)
#: One row for each piece of each board before the first move.
BOARDS = (
    Column("player", _TEXT, "pseudonym"),
    Column("series", _WHOLE, "place of the rule in the list, from 0"),
    Column("episode", _WHOLE, "board of the series, from 0"),
    Column("points", _WHOLE, "points of the board, before they are multiplied"),
    Column("partner_points", _WHOLE, "those of a partner, who is another person"),
    Column(
        "end",
        _TEXT,
        "cleared, stalemate, cut off, given up, mastered, lost, left by partner; empty: going on",
    ),
    Column("piece", _WHOLE, "number of the piece on its board"),
    Column("cell", _WHOLE, "1 at the bottom left to 36 at the top right"),
    Column("shape", _TEXT, "of the piece"),
    Column("color", _TEXT, "of the piece"),
    Column("image", _TEXT, "path of the picture that the piece is; empty for other pieces"),
)
#: One row for each answer to a question.
ANSWERS = (
    Column("player", _TEXT, "pseudonym"),
    Column("page", _TEXT, "quiz, demographics or guess"),
    Column(
        "name",
        _TEXT,
        "name of the question; of a guess guess, or partner_guess: which rule an adversary who "
        "mastered it seems to have found",
    ),
    Column(
        "text",
        _TEXT,
        f"the answer; of a guess, what the player thinks that the rule is. {_GUARDED}",
    ),
    Column("series", _WHOLE, "of a guess: place of the rule in the list, from 0"),
    Column("episode", _WHOLE, "of a guess: the board after which it was made, from 0"),
    Column("confidence", _WHOLE, "of a guess: 1 not at all to 5 quite sure"),
    Column("at", _TIME, "when it came", "UTC"),
)
#: One row for each message of one partner to the other.
CHAT = (
    Column("player", _TEXT, "pseudonym of who wrote it"),
    Column("series", _WHOLE, "place of the rule in the list, from 0"),
    Column("episode", _WHOLE, "board of the series, from 0"),
    Column("attempt", _WHOLE, "how many attempts had been made on the board"),
    Column("text", _TEXT, f"what was written. {_GUARDED}"),
    Column("at", _TIME, "when it came", "UTC"),
)
#: Who is who, for those who asked for it.
IDENTIFIERS = (
    Column("player", _TEXT, "pseudonym"),
    Column("completion_code", _TEXT, "what the player was given in the end"),
    Column("identifiers", _TEXT, "parameters of the invitation, as JSON"),
)
TABLES = {
    "participants": PARTICIPANTS,
    "attempts": ATTEMPTS,
    "boards": BOARDS,
    "answers": ANSWERS,
    "chat": CHAT,
    "identifiers": IDENTIFIERS,
}


def study_tables(
    session: Session, study: Study, games: Sequence[PlayedGame], *, identifiers: bool = False
) -> dict[str, pl.DataFrame]:
    """Return the tidy tables of a study, by name; ``TABLES`` tells what their columns mean.

    With ``identifiers``, those of the players and their completion codes come as a further table.
    """
    trials = trial_numbers(session, study, games)
    players = player_counts(session, study)
    names = {player.id: player.player for player, _ in players}
    points = points_of_players(session, study)
    written = session.scalars(
        select(StudyAnswer).where(StudyAnswer.assignment_id.in_(names)).order_by(StudyAnswer.id)
    ).all()
    made = Counter(game.made_by(n) for game in games for n in range(len(game.session.attempts)))
    rows: dict[str, list[Sequence[Any]]] = {
        "participants": [
            (
                *(p.player, p.rule_list, p.created_at, p.consented_at, p.finished_at, p.ending),
                *(names.get(p.partner_id or 0, ""), p.pairing, p.n_played, made[p.player]),
                *(points.get(p.id, 0), trials.get(p.player), p.excluded_at is not None),
            )
            for p, _ in players
        ],
        "attempts": [row for game in games for row in _attempt_rows(game)],
        "boards": [row for game in games for row in _board_rows(game)],
        "answers": [
            (
                *(names[each.assignment_id], each.page, each.name, each.text),
                *(each.series, each.episode, each.confidence, each.at),
            )
            for each in written
            if each.page != "chat"
        ],
        "chat": [
            (names[each.assignment_id], each.series, each.episode, each.attempt, each.text, each.at)
            for each in written
            if each.page == "chat"
        ],
    }
    if identifiers:
        rows["identifiers"] = [
            (p.player, p.completion_code, json.dumps(p.identifiers)) for p, _ in players
        ]
    return {
        name: pl.DataFrame(of_table, schema={c.name: c.kind for c in TABLES[name]}, orient="row")
        for name, of_table in rows.items()
    }


def trial_numbers(session: Session, study: Study, games: Sequence[PlayedGame]) -> dict[str, int]:
    """Return the number that the trials of each player have in a run folder.

    Those count, in the order in which they came, who attempted anything and are not excluded.
    """
    players = [player for player, _ in player_counts(session, study)]
    active = {who for game in games if game.session.attempts for _, who in game.people}
    counted = [p.player for p in players if p.player in active and p.excluded_at is None]
    return {player: number for number, player in enumerate(counted)}


def _attempt_rows(game: PlayedGame) -> Iterator[Sequence[Any]]:
    names = {e: episode_name(game, first) for e, first in first_attempts(game).items()}
    hints = game.session.hints()
    boards = {e: {p.place: p for p in game.session.board(e).pieces} for e in names}
    for number, attempt in enumerate(game.session.attempts):
        pieces = boards.get(attempt.episode, {})
        piece = pieces.get(attempt.cell)
        cells = {place: each.pos for place, each in pieces.items()}
        look = (None,) * 3 if piece is None else (piece.shape, piece.color, piece.image)
        yield (
            *(game.player, game.rule_list, game.series, game.rule, attempt.episode),
            *(names.get(attempt.episode), attempt.mover, game.made_by(number), attempt.number),
            *(_milliseconds(attempt.at), cells.get(attempt.cell, attempt.cell)),
            *(None if piece is None else piece.id, *look, attempt.bucket, attempt.outcome),
            *(OUTCOME_WORDS[attempt.outcome], attempt.finish),
            *_hint_cells(attempt, hints.get((attempt.episode, attempt.number)), cells),
            *(round(attempt.reaction_s, 3),),
            *_client_times(attempt),
        )


def _hint_cells(
    attempt: Attempt, hint: Hint | None, cells: Mapping[int, int]
) -> Sequence[int | bool | None]:
    if hint is None:
        return None, None, None
    return cells[hint.cell], hint.bucket, is_followed(attempt, hint)


def _client_times(attempt: Attempt) -> Sequence[int | None]:
    if attempt.client is None:
        return [None] * len(fields(ClientTimes))
    return astuple(attempt.client)


def _milliseconds(seconds: float) -> int:
    return round(1000 * seconds)


def _board_rows(game: PlayedGame) -> Iterator[Sequence[Any]]:
    points, partners = (game.session.reward(seat).board_points for seat in (0, 1))
    for episode, board in enumerate(game.session.played_boards()):
        for piece in game.session.board(episode).pieces:
            yield (
                *(game.player, game.series, episode, points[episode]),
                *(partners[episode] if game.partner else None, board.end),
                *(piece.id, piece.pos, piece.shape, piece.color, piece.image),
            )


def variables(tables: Iterable[str]) -> list[dict[str, Any]]:
    """Return the columns of some tables as Psych-DS has them: each name once, with its meanings."""
    found: dict[str, list[Column]] = {}
    for column in (column for table in tables for column in TABLES[table]):
        found.setdefault(column.name, []).append(column)
    return [_variable(name, columns) for name, columns in found.items()]


def _variable(name: str, columns: Sequence[Column]) -> dict[str, Any]:
    meanings = "; or: ".join(dict.fromkeys(column.meaning for column in columns))
    units = {column.unit for column in columns if column.unit}
    unit = {"unitText": units.pop()} if len(units) == 1 else {}
    return {"@type": "PropertyValue", "name": name, "description": meanings, **unit}


def codebook_text(tables: Iterable[str]) -> str:
    """Return what each column of some tidy tables means, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("table", "column", "type", "unit", "meaning"))
    for table in tables:
        for column in TABLES[table]:
            kind = str(column.kind).partition("(")[0]
            writer.writerow((table, column.name, kind, column.unit, column.meaning))
    return out.getvalue()
