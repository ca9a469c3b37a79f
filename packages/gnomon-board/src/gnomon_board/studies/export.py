"""Export of a study: tidy tables with a codebook, a transcript, and run folders, by pseudonym.

In a run folder people are one learner, and each person plays one trial of a task.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.text_files import safe_cell, write_atomically
from gnomon_board.database import find_named
from gnomon_board.errors import Conflict
from gnomon_board.schema import PlaySession, Study, StudyAnswer, StudyAssignment
from gnomon_board.studies.induction import outcomes_of
from gnomon_board.studies.participants import player_counts
from gnomon_board.studies.plan import StudyPlan
from gnomon_board.studies.play import rebuild_game
from gohr import BoardSpec, ExperimentConfig, Run, TrialLog
from gohr.experiments import LearnerEntry, RuleEntry, write_recorded_run
from gohr.outcomes import OUTCOME_WORDS
from gohr.people import ClientTimes, PlayedGame, transcript_text

_GUARDED = "an apostrophe stands before text that a spreadsheet takes for a formula"
#: The columns of each table, with their meanings.
TABLES: dict[str, dict[str, str]] = {
    "participants": {
        "player": "pseudonym",
        "rule_list": "list of rules",
        "consented_at": "when the player agreed to take part, UTC",
        "finished_at": "when the last board was over, UTC",
        "ending": "finished, left or screened out; empty before",
        "n_series": "series that were played to their end",
        "n_attempts": "attempts of all series",
        "points": "points of all series",
        "trial": "number of the player's trials in the run folders; empty: not in them",
        "browser": "name and version, as the browser named itself when the player agreed",
        "device": "computer, tablet or phone, and its system, as the browser named it",
        "excluded": "1 if the experimenter excluded the player, else 0",
    },
    "attempts": {
        "player": "pseudonym",
        "rule_list": "list of rules",
        "series": "place of the rule in the list, from 0",
        "rule": "name of the rule",
        "episode": "board of the series, from 0",
        "episode_id": "name of the board in the transcript",
        "attempt": "number on the board, from 1",
        "at": "when the server handled it, UTC",
        "cell": "1 at the bottom left to 36 at the top right",
        "piece": "number of the piece on its board; empty for an empty cell",
        "shape": "of the piece; empty for an empty cell",
        "color": "of the piece; empty for an empty cell",
        "bucket": "0 at the top left, then clockwise",
        "outcome": "0 accepted, 3 empty cell, 4 denied, 7 immovable; empty on a test board",
        "outcome_words": "the outcome in words",
        "board_after": "0 going on, 1 cleared, 2 stalemate",
        "reaction_s": "seconds since the reply before, by the server's clock",
        "client_touch_ms": "display to first touch, by the player's clock, in ms",
        "client_action_ms": "display to the attempt, by the player's clock, in ms",
        "client_away_ms": "part of it while the page was in the background, in ms",
        "client_animation_ms": "part of it during the animation of a piece, in ms",
    },
    "answers": {
        "player": "pseudonym",
        "page": "quiz, demographics or guess",
        "name": "name of the question; guess for a guess",
        "text": f"the answer; of a guess, what the player thinks that the rule is; {_GUARDED}",
        "series": "of a guess: place of the rule in the list, from 0",
        "episode": "of a guess: the board after which it was made, from 0",
        "confidence": "of a guess: from 1 (not at all) to 5 (very sure)",
        "at": "time of the answer, UTC",
    },
    "identifiers": {
        "player": "pseudonym",
        "completion_code": "the code that the player got at the end",
        "identifiers": "parameters of the invitation, as JSON",
    },
}


def games_of(session: Session, study: Study, *, tests: bool = False) -> list[PlayedGame]:
    """Return all games of a study, ordered by player: those with replies, or with test boards."""
    rows = session.execute(
        select(PlaySession, StudyAssignment)
        .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
        .where(StudyAssignment.study_id == study.id)
        .order_by(StudyAssignment.id, PlaySession.series)
    )
    return [
        PlayedGame(a.player, a.rule_list, row.series, row.rule, rebuild_game(session, row).session)
        for row, a in rows
        if (row.evidence is not None) == tests
    ]


def write_study(
    session: Session, name: str, folder: Path, *, identifiers: bool = False
) -> list[Path]:
    """Write the recorded data of a study into a folder, and return the paths.

    With ``identifiers``, also write a table of the players' identifiers and completion codes.
    Excluded players are in that table and in ``participants.csv`` only. Files of an earlier export
    into the folder are replaced or removed.

    Raises Conflict: there is no attempt yet. Raises Missing: there is no such study.
    """
    study = find_named(session, Study, name)
    games, tests = games_of(session, study), games_of(session, study, tests=True)
    if not any(game.session.attempts for game in [*games, *tests]):
        raise Conflict("this study has no attempt yet")
    kept = {each.player for each in study.assignments if each.excluded_at is None}
    games, tests = ([each for each in group if each.player in kept] for group in (games, tests))
    # Players who made an attempt, in the order of arrival.
    active = dict.fromkeys(game.player for game in games if game.session.attempts)
    trials = {player: number for number, player in enumerate(active)}
    tables = {
        "participants": _participants(session, study, trials),
        "attempts": (
            *(row for game in games for row in _attempts(game)),
            *(row for game in tests for row in _attempts(game, replied=False)),
        ),
        "answers": _answers(session, study),
    }
    if identifiers:
        tables["identifiers"] = (
            (player.player, player.completion_code, json.dumps(player.identifiers))
            for player in study.assignments
        )
    transcript, boards = transcript_text(games)
    plan = StudyPlan.from_record(study.plan)
    rules = {name: plan.rule_text(name) or "" for name in plan.rules}
    # As they were played, even if the library has changed since.
    rules |= {game.rule: game.session.game.rule_text for game in games}
    meanings = ((table, *column) for table in tables for column in TABLES[table].items())
    files = {f"{name}.csv": _csv_text(TABLES[name], rows) for name, rows in tables.items()}
    files |= {
        "codebook.csv": _csv_text(("table", "column", "meaning"), meanings),
        f"{study.name}-transcript.csv": transcript,
        f"{study.name}-boards.csv": boards,
        "study_plan.json": json.dumps(study.plan, indent=1, ensure_ascii=False) + "\n",
        **{f"rules/{name}.txt": text for name, text in rules.items()},
    }
    if (folder / "study_plan.json").exists():  # an earlier export
        for name in ("identifiers.csv", "outcomes.csv"):
            (folder / name).unlink(missing_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / name, text.encode())
    paths = [folder / name for name in files]
    if tests:
        outcomes_of(session, study).write(folder / "outcomes.csv")
        paths.append(folder / "outcomes.csv")
    run = write_study_run(folder / "run", study.name, games, trials)
    return [*paths, *([] if run is None else [run.path])]


def _participants(
    session: Session, study: Study, trials: dict[str, int]
) -> Iterator[Sequence[Any]]:
    for each in player_counts(session, study):
        p = each.player
        yield (
            *(p.player, p.rule_list, p.created_at, p.finished_at, p.ending),
            *(p.n_played, each.n_attempts, p.points, trials.get(p.player)),
            *(p.browser, p.device, int(p.excluded_at is not None)),
        )


def _attempts(game: PlayedGame, *, replied: bool = True) -> Iterator[Sequence[Any]]:
    names = game.episode_names()
    boards = {e: {p.pos: p for p in game.session.board(e).pieces} for e in names}
    for attempt in game.session.attempts:
        piece = boards.get(attempt.episode, {}).get(attempt.cell)
        yield (
            *(game.player, game.rule_list, game.series, game.rule, attempt.episode),
            *(names.get(attempt.episode), attempt.number),
            datetime.datetime.fromtimestamp(attempt.at, datetime.UTC),
            *(attempt.cell, *((piece.id, piece.shape, piece.color) if piece else (None,) * 3)),
            attempt.bucket,
            *((attempt.outcome, OUTCOME_WORDS[attempt.outcome]) if replied else (None, "placed")),
            attempt.finish,
            round(attempt.reaction_s, 3),
            *(astuple(attempt.client) if attempt.client else [None] * len(fields(ClientTimes))),
        )


def _answers(session: Session, study: Study) -> Iterator[Sequence[Any]]:
    names = {each.id: each.player for each in study.assignments if each.excluded_at is None}
    query = select(StudyAnswer).where(StudyAnswer.assignment_id.in_(names))
    for each in session.scalars(query.order_by(StudyAnswer.id)):
        yield (
            *(names[each.assignment_id], each.page, each.name, each.text),
            *(each.series, each.episode, each.confidence, each.at),
        )


def _csv_text(columns: Iterable[str], rows: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    # A missing value is an empty cell without quotation marks, so that a column stays numeric.
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds")
    if isinstance(value, str):
        # The writer would not quote a carriage return, which ends a line for some readers.
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return safe_cell(value)


# -- run folders -----------------------------------------------------------------------------------


def write_study_run(
    path: Path, name: str, games: Iterable[PlayedGame], trials: Mapping[str, int]
) -> Run | None:
    """Write the games of a study as a run folder, and return it; None without any attempt.

    ``trials`` has the number of each player's trials, from 0; other players, and games without an
    attempt, are left out. The folder is new, or that of an older run of the same study, which is
    replaced, and removed without any attempt.
    """
    games = [game for game in games if game.player in trials and game.session.attempts]
    if not games:
        if path.is_dir() and any(path.iterdir()):
            older = Run.open(path).config
            if older.recorded is not None and older.name == name:
                shutil.rmtree(path)
        return None
    spec = _common_spec([game.session.game.board for game in games])
    people, n_trials = LearnerEntry("person", "people"), 1 + max(trials.values())
    n_played: Counter[tuple[str, str]] = Counter()
    texts: dict[str, str] = {}
    boards: dict[str, list[bytes]] = {}
    made: dict[tuple[str, str, int], TrialLog] = {}
    for game in games:
        # A rule that a player plays again is another task.
        n_before = n_played[game.player, game.rule]
        n_played[game.player, game.rule] += 1
        task = f"{game.rule}, again {n_before}" if n_before else game.rule
        trial, log = trials[game.player], game.session.log(spec)
        texts.setdefault(task, game.session.game.rule_text)
        boards.setdefault(task, [b""] * n_trials)[trial] = log.boards.tobytes()
        made[people.name, task, trial] = log
    config = ExperimentConfig(
        name,
        [RuleEntry(*each) for each in sorted(texts.items())],
        [people],
        trials=n_trials,
        episodes=max(len(log.boards) for log in made.values()),
        horizon=max(game.session.game.horizon for game in games),
        board=spec,
        recorded=boards,
    )
    return write_recorded_run(path, config, made)


def _common_spec(specs: Sequence[BoardSpec]) -> BoardSpec:
    """Return a board spec that covers all boards: their pieces, shapes and colours."""
    if len(set(specs)) <= 1:
        return specs[0] if specs else BoardSpec()
    least, most = zip(*(spec.pieces for spec in specs), strict=True)
    shapes = dict.fromkeys(name for spec in specs for name in spec.shape_palette)
    colors = dict.fromkeys(name for spec in specs for name in spec.color_palette)
    return BoardSpec((min(least), max(most)), 0, 0, tuple(shapes), tuple(colors))
