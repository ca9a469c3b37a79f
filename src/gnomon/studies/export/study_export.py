"""Export of a study: the reference's files, tidy tables, and a codebook, all by pseudonym."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon._io.atomic_file import write_atomically
from gnomon._io.csv_cells import safe_cell
from gnomon._version import __version__
from gnomon.database.schema import PlaySession, Study, StudyAssignment
from gnomon.leaderboard.refusals import Conflict
from gnomon.rules.catalogue import available_rules, load_rule_text
from gnomon.studies.export.study_run import by_kind, write_study_run
from gnomon.studies.export.study_tables import codebook_text, study_tables, trial_numbers, variables
from gnomon.studies.export.transcript import (
    PlayedGame,
    boards_text,
    episode_name,
    first_attempts,
    play_scores,
    transcript_text,
)
from gnomon.studies.game_store import rebuild_game
from gnomon.studies.plan.study_plan import StudyPlan
from gnomon.studies.plan.trial_list_files import list_folders, trial_list_files


def games_of(session: Session, study: Study) -> list[PlayedGame]:
    """Return every game of a study, player by player."""
    plan = StudyPlan.from_record(study.plan)
    folders = {name: list_folders(plan, name) for name in plan.lists}
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
            plan=folders[a.rule_list][row.series] if len({*folders[a.rule_list]}) > 1 else "",
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


def guesses_text(tables: Mapping[str, pl.DataFrame], games: Sequence[PlayedGame]) -> str:
    """Return the guesses as the reference game server writes them.

    A guess is a line, whatever lines it was written in; what a spreadsheet would take for a formula
    has an apostrophe before it.
    """
    out = io.StringIO()
    out.write("#playerId,trialListId,seriesNo,ruleId,episodeNo,episodeId,guess,guessConfidence\n")
    writer = csv.writer(out, lineterminator="\n")
    by_place = {(who, game.series): game for game in games for _, who in game.people}
    guesses = tables["answers"].filter(pl.col("page") == "guess")
    for row in guesses.iter_rows(named=True):
        game = by_place[row["player"], row["series"]]
        first = first_attempts(game).get(row["episode"])
        name = "" if first is None else episode_name(game, first)
        text = " ".join(row["text"].splitlines())
        place = (row["player"], game.rule_list, row["series"], game.rule, row["episode"], name)
        writer.writerow((*place, safe_cell(text), row["confidence"]))
    return out.getvalue()


def _players_texts(
    study: Study, players: pl.DataFrame, folders: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return who played with whom, as the reference's table of players has it; nothing of nobody.

    The name of the plan tells whether they were adversaries: so programs read it.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("id", "playerId", "experimentPlan", "trialListId", "partnerPlayerId"))
    paired = players.filter(pl.col("partner") != "")
    for number, row in enumerate(paired.iter_rows(named=True), 1):
        folder, name = folders[row["rule_list"]][0], row["rule_list"]
        writer.writerow((number, row["player"], folder, name, row["partner"]))
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
        cells = seat, row["series"], row["episode"], row["attempt"], moment, safe_cell(row["text"])
        csv.writer(out, lineterminator="\n").writerow(cells)
        head = texts.get(name, "#mover,seriesNo,episodeNo,moveNo,timestamp,text\n")
        texts[name] = head + out.getvalue()
    return texts


def description(study: Study, tables: Iterable[str]) -> dict[str, Any]:
    """Return the metadata of the export, as Psych-DS asks for them (its rules of 2024).

    Required are ``@context``, ``@type``, ``name``, ``description`` and ``variableMeasured``, which
    names every column of every data file; all names are those of schema.org.
    """
    return {
        "@context": "https://schema.org",
        "@type": "Dataset",
        "name": study.name,
        "description": study.title,
        "measurementTechnique": f"Game of Hidden Rules, played in a browser, Gnomon {__version__}",
        "variableMeasured": variables(tables),
    }


def _rules(plan: StudyPlan, games: Sequence[PlayedGame]) -> dict[str, str]:
    """Return the texts of the rules that an analysis needs, without hidden ones of a season."""
    ours = available_rules()
    listed = sorted({series.rule for name in plan.lists for series in plan.series(name)})
    texts = {name: load_rule_text(name) for name in listed if name in ours} | plan.rule_texts
    # As they were played, where the library has changed since.
    return texts | {game.rule: game.session.game.rule_text for game in games if game.rule in texts}


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
        "codebook.csv": codebook_text(tables),
        "dataset_description.json": json.dumps(description(study, tables), indent=1) + "\n",
        "study_plan.json": json.dumps(study.plan, indent=1, ensure_ascii=False) + "\n",
    }
    plan = StudyPlan.from_record(study.plan)
    files |= _chat_texts(tables["chat"], games)
    folders = {name: list_folders(plan, name) for name in plan.lists}
    files |= _players_texts(study, tables["participants"], folders)
    rules = _rules(plan, games)
    files |= {f"rules/{name}.txt": text for name, text in rules.items()} | trial_list_files(plan)
    contents = {n: each.encode() if isinstance(each, str) else each for n, each in files.items()}
    for name, table in tables.items():
        contents |= _data_files(name, table)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, content)
    # What a season hides leaves the server in no run folder either.
    told = (game for game in games if game.rule in rules)
    trials = trial_numbers(session, study, games)
    kinds = by_kind(told).items()
    runs = [write_study_run(folder / name, study.name, each, trials) for name, each in kinds]
    return [*(folder / name for name in contents), *(run.path for run in runs if run is not None)]


def _data_files(name: str, table: pl.DataFrame) -> dict[str, bytes]:
    """Return a table as Parquet, and as CSV with a name and metadata as Psych-DS asks for them."""
    parquet = io.BytesIO()
    table.write_parquet(parquet)
    texts = [c for c, kind in table.schema.items() if kind == pl.String]
    safe = table.with_columns(
        pl.col(texts).map_elements(safe_cell, return_dtype=pl.String, skip_nulls=True)
    )
    stem = f"data/description-{name}_data"
    return {
        f"data/{name}.parquet": parquet.getvalue(),
        f"{stem}.csv": safe.write_csv().encode(),
        f"{stem}.json": (
            json.dumps({"variableMeasured": variables([name])}, indent=1) + "\n"
        ).encode(),
    }
