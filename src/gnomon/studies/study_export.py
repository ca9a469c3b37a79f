"""Export of a study: the reference's files, tidy tables, and a codebook, all by pseudonym."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon._io.atomic_file import write_atomically
from gnomon._version import __version__
from gnomon.database.schema import PlaySession, Study, StudyAnswer, StudyAssignment
from gnomon.leaderboard.refusals import Conflict
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.studies.bot_assist import Hint
from gnomon.studies.game_store import rebuild_game
from gnomon.studies.participants import player_counts
from gnomon.studies.plan.study_plan import StudyPlan
from gnomon.studies.plan.trial_list_files import list_folder, trial_list_files
from gnomon.studies.play_records import OUTCOME_WORDS, Attempt, ClientTimes
from gnomon.studies.study_store import points_of_players
from gnomon.studies.transcript import (
    PlayedGame,
    boards_text,
    episode_name,
    first_attempts,
    hints_of,
    is_followed,
    play_scores,
    transcript_text,
)

_TEXT, _WHOLE, _REAL, _TIME = pl.String, pl.Int64, pl.Float64, pl.Datetime("ms", "UTC")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a tidy table, as the codebook tells of it."""

    name: str
    kind: Any
    meaning: str
    unit: str = ""


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
    Column("name", _TEXT, "name of the question"),
    Column("text", _TEXT, "the answer; of a guess, what the player thinks that the rule is"),
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
    Column("text", _TEXT, "what was written"),
    Column("at", _TIME, "when it came", "UTC"),
)
TABLES = {
    "participants": PARTICIPANTS,
    "attempts": ATTEMPTS,
    "boards": BOARDS,
    "answers": ANSWERS,
    "chat": CHAT,
}


def games_of(session: Session, study: Study) -> list[PlayedGame]:
    """Return every game of a study, player by player."""
    names = {player.id: player.player for player in study.assignments}
    rows = session.execute(
        select(PlaySession, StudyAssignment)
        .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
        .where(StudyAssignment.study_id == study.id)
        .order_by(StudyAssignment.id, PlaySession.series)
    )
    return [
        PlayedGame(
            *(a.player, a.rule_list, row.series, row.rule, rebuild_game(session, row).session),
            partner=names[row.partner_id] if row.partner_id else "",
        )
        for row, a in rows
    ]


def study_transcript(session: Session, study: Study) -> str:
    """Return every attempt, in the detailed format of the reference game server."""
    return transcript_text(games_of(session, study))


def scores_text(session: Session, study: Study) -> str:
    """Return the scores as a tidy table in CSV: players as algorithms, rules as tasks.

    Raises Conflict: nobody has played yet.
    """
    return _scores(games_of(session, study))


def _scores(games: Sequence[PlayedGame]) -> str:
    if not any(game.session.attempts for game in games):
        raise Conflict("nobody has played yet")
    out = io.BytesIO()
    play_scores(games).frame.write_csv(out)
    return out.getvalue().decode()


def study_tables(
    session: Session, study: Study, games: Sequence[PlayedGame], *, identifiers: bool = False
) -> dict[str, pl.DataFrame]:
    """Return the tidy tables of a study, by name; ``TABLES`` tells what their columns mean.

    With ``identifiers``, those of the players and their completion codes come as a further table.
    """
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
                *(points.get(p.id, 0), p.excluded_at is not None),
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
    tables = {name: _frame(rows[name], columns) for name, columns in TABLES.items()}
    if identifiers:
        tables["identifiers"] = pl.DataFrame(
            [(p.player, p.completion_code, json.dumps(p.identifiers)) for p, _ in players],
            schema={"player": _TEXT, "completion_code": _TEXT, "identifiers": _TEXT},
            orient="row",
        )
    return tables


def _frame(rows: Sequence[Sequence[Any]], columns: Sequence[Column]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={c.name: c.kind for c in columns}, orient="row")


def _attempt_rows(game: PlayedGame) -> Iterator[Sequence[Any]]:
    names = {e: episode_name(game, first) for e, first in first_attempts(game).items()}
    hints = hints_of(game.session)
    boards = {e: {p.pos: p for p in game.session.board(e).pieces} for e in names}
    for number, attempt in enumerate(game.session.attempts):
        piece = boards.get(attempt.episode, {}).get(attempt.cell)
        look = (None,) * 3 if piece is None else (piece.shape, piece.color, piece.image)
        yield (
            *(game.player, game.rule_list, game.series, game.rule, attempt.episode),
            *(names.get(attempt.episode), attempt.mover, game.made_by(number)),
            *(
                attempt.number,
                _milliseconds(attempt.at),
                attempt.cell,
                *look,
                attempt.bucket,
                attempt.outcome,
            ),
            *(OUTCOME_WORDS[attempt.outcome], attempt.finish),
            *_hint_cells(attempt, hints.get((attempt.episode, attempt.number))),
            *(round(attempt.reaction_s, 3),),
            *_client_times(attempt),
        )


def _hint_cells(attempt: Attempt, hint: Hint | None) -> Sequence[int | bool | None]:
    if hint is None:
        return None, None, None
    return hint.cell, hint.bucket, is_followed(attempt, hint)


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


def guesses_text(tables: Mapping[str, pl.DataFrame], games: Sequence[PlayedGame]) -> str:
    """Return the guesses as the reference game server writes them."""
    out = io.StringIO()
    out.write("#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,guess,guessConfidence\n")
    writer = csv.writer(out, lineterminator="\n")
    by_place = {(who, game.series): game for game in games for _, who in game.people}
    guesses = tables["answers"].filter(pl.col("page") == "guess")
    for row in guesses.iter_rows(named=True):
        game = by_place[row["player"], row["series"]]
        first = first_attempts(game).get(row["episode"])
        name = "" if first is None else episode_name(game, first)
        place = (row["player"], game.rule_list, row["series"], game.rule, row["episode"], name)
        writer.writerow((*place, row["text"], row["confidence"]))
    return out.getvalue()


def _players_texts(study: Study, players: pl.DataFrame, folder: str) -> dict[str, str]:
    """Return who played with whom, as the reference's table of players has it; nothing of nobody.

    The name of the plan tells whether they were adversaries: so programs read it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("id", "playerId", "experimentPlan", "trialListId", "partnerPlayerId"))
    paired = players.filter(pl.col("partner") != "")
    for number, row in enumerate(paired.iter_rows(named=True), 1):
        writer.writerow((number, row["player"], folder, row["rule_list"], row["partner"]))
    return {f"{study.name}-players.csv": out.getvalue()} if paired.height else {}


def _chat_texts(table: pl.DataFrame, games: Sequence[PlayedGame]) -> dict[str, str]:
    """Return what partners wrote as the reference game server has it: a file for each pair."""
    texts: dict[str, str] = {}
    places = {(who, g.series): (g, seat or 0) for g in games for seat, who in g.people}
    for row in table.iter_rows(named=True):
        game, seat = places[row["player"], row["series"]]
        name = f"chats/{game.player}.chat.csv"
        out = io.StringIO()
        moment = f"{row['at']:%Y%m%d-%H%M%S}.{row['at'].microsecond // 1000:03d}"
        cells = seat, row["series"], row["episode"], row["attempt"], moment, row["text"]
        csv.writer(out, lineterminator="\n").writerow(cells)
        head = texts.get(name, "#mover,seriesNo,episodeNo,moveNo,timestamp,text\n")
        texts[name] = head + out.getvalue()
    return texts


def description(study: Study) -> dict[str, Any]:
    """Return the metadata of the export, in the terms of Psych-DS: what was measured, and how."""
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": study.name,
        "description": study.title,
        "generator": f"Gnomon {__version__}",
        "variableMeasured": [
            {
                "@type": "PropertyValue",
                "name": f"{table}.{column.name}",
                "description": column.meaning,
                "unitText": column.unit,
            }
            for table, columns in TABLES.items()
            for column in columns
        ],
    }


def codebook_text() -> str:
    """Return what each column of the tidy tables means, as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("table", "column", "type", "unit", "meaning"))
    for table, columns in TABLES.items():
        for column in columns:
            kind = str(column.kind).partition("(")[0]
            writer.writerow((table, column.name, kind, column.unit, column.meaning))
    return out.getvalue()


def _rules_and_lists(plan: StudyPlan, games: Sequence[PlayedGame]) -> Mapping[str, str | bytes]:
    """Return what else an analysis needs: the rules, but for hidden ones of a season, and lists."""
    ours = available_rules()
    listed = sorted({series.rule for name in plan.lists for series in plan.series(name)})
    texts = {name: load_rule_text(name) for name in listed if name in ours} | plan.rule_texts
    # As they were played, where the library has changed since.
    texts |= {game.rule: game.session.game.rule_text for game in games if game.rule in texts}
    rules = {f"rules/{name}.txt": text for name, text in texts.items()}
    return rules | trial_list_files(plan)


def write_study(
    session: Session, study: Study, folder: Path, *, identifiers: bool = False
) -> list[Path]:
    """Write everything that was recorded into a folder, and return the paths.

    Raises Conflict: nobody has played yet.
    """
    games = games_of(session, study)
    tables = study_tables(session, study, games, identifiers=identifiers)
    files: dict[str, str | bytes] = {
        f"{study.name}-transcript.csv": transcript_text(games),
        f"{study.name}-boards.csv": boards_text(games),
        f"{study.name}-guesses.csv": guesses_text(tables, games),
        f"{study.name}-scores.csv": _scores(games),
        "codebook.csv": codebook_text(),
        "dataset_description.json": json.dumps(description(study), indent=1) + "\n",
        "study_plan.json": json.dumps(study.plan, indent=1, ensure_ascii=False) + "\n",
    }
    plan = StudyPlan.from_record(study.plan)
    files |= _chat_texts(tables["chat"], games)
    files |= _players_texts(study, tables["participants"], list_folder(plan))
    files |= _rules_and_lists(plan, games)
    contents = {n: each.encode() if isinstance(each, str) else each for n, each in files.items()}
    for name, table in tables.items():
        contents[f"data/{name}.csv"] = table.write_csv().encode()
        parquet = io.BytesIO()
        table.write_parquet(parquet)
        contents[f"data/{name}.parquet"] = parquet.getvalue()
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, content)
    return [folder / name for name in contents]
