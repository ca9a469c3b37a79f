"""Studies that were made by an older version: their plans, players and games go on."""

from __future__ import annotations

import json

from sqlalchemy import select, text

from gnomon.database.engine import Database
from gnomon.database.migration import downgrade, upgrade
from gnomon.database.schema import StudyAssignment
from gnomon.leaderboard.accounts.tokens import digest_of
from gnomon.studies import StudyPlan
from gnomon.studies.export.study_export import study_transcript
from gnomon.studies.game_store import find_game, store_changes
from gnomon.studies.participants import find_player, go_on, step_of
from gnomon.studies.plan.series_plan import MemoryAids
from gnomon.studies.study_store import players_of, study_named

NOW = "2026-01-01 00:00:00.000000"
#: As the tables held it before there were pages, terms and identifiers.
PLAN = {
    "name": "old", "title": "An old study", "consent": "Yes.",
    "lists": {"a": ["anything-goes", "clockwise"]},
    "episodes": 1, "horizon": 4, "memory_aid": False, "show_curves": False,
    "board": {"pieces": 2, "shapes": 0, "colors": 0},
}  # fmt: skip
BOARD = {
    "pieces": [2, 2], "shapes": [0, 0], "colors": [0, 0],
    "shape_palette": ["SQUARE", "STAR", "CIRCLE", "TRIANGLE"],
    "color_palette": ["RED", "BLACK", "BLUE", "YELLOW"],
}  # fmt: skip
SETTINGS = {
    "shown": "Puzzle 1", "episodes": 1, "horizon": 4, "memory_aid": False, "gave_up": False,
}  # fmt: skip


def older(database: Database) -> None:
    """Write a study with two players, one of whom has finished, as version 0002 did."""
    downgrade(database, "0002")
    rows = {
        "accounts": {"id": 1, "name": "root", "name_key": "root", "created_at": NOW},
        "studies": {
            "id": 1, "account_id": 1, "name": "old", "title": "An old study", "consent": "Yes.",
            "plan": json.dumps(PLAN), "invitation": "x" * 64, "created_at": NOW,
        },
    }  # fmt: skip
    with database.engine.begin() as connection:
        for table, row in rows.items():
            _insert(connection, table, row)
        for number, finished in ((1, None), (2, NOW)):
            player = {
                "id": number, "study_id": 1, "key": digest_of(f"player-{number}"),
                "player": f"old-{number:04d}", "rule_list": "a", "n_played": 2 if finished else 0,
                "consented_at": NOW, "created_at": NOW, "finished_at": finished,
            }  # fmt: skip
            _insert(connection, "study_assignments", player)
        game = {
            "id": 1001, "key": digest_of("game"), "assignment_id": 1, "rule": "anything-goes",
            "series": 0, "seed": 5, "board": json.dumps(BOARD), "settings": json.dumps(SETTINGS),
            "state": "playing", "n_episodes": 1, "created_at": NOW, "changed_at": NOW,
        }  # fmt: skip
        _insert(connection, "play_sessions", game)
    upgrade(database)


def _insert(connection, table, row):
    names = ", ".join(f'"{name}"' for name in row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)


def test_an_older_study_goes_on_to_its_end(database):
    older(database)
    with database.reading() as session:
        study = study_named(session, "old")
        plan = StudyPlan.from_record(study.plan)
        assert [series.rule for series in plan.series("a")] == ["anything-goes", "clockwise"]
        assert [player.ending for player in players_of(session, study)] == ["", "finished"]
        first, second = session.scalars(select(StudyAssignment).order_by(StudyAssignment.id))
        assert step_of(first, plan) == ("play", 0)
        assert step_of(second, plan) == ("end", 0)
        game = find_game(session, "game")
        assert game.session.game.terms.memory == MemoryAids.none()
    for cell in [piece["cell"] for piece in game.session.view().pieces]:
        with database.writing() as session:
            game = find_game(session, "game")
            store_changes(session, game, game.session.attempt(cell, 0))
    with database.writing() as session:
        player = find_player(session, "player-1")
        assert player.n_played == 1
        following = go_on(session, player, 1, "game")
        session.flush()
        assert find_game(session, following).session.game.rule_name == "Puzzle 2"
        text_of = study_transcript(session, study_named(session, "old"))
    assert len(text_of.splitlines()) == 3
