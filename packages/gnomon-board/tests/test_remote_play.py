"""Learners of the registry play a hidden season of a real server, as they would play at home."""

from __future__ import annotations

import itertools
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app_client import AppClient
from gnomon.errors import UnknownNameError
from gnomon_board import Client, Move, Settings, create_app
from gnomon_board.database import Database
from gnomon_board.errors import LeaderboardError, RefusedError
from gnomon_board.remote_play import RemotePlan, learner_rng, play_remotely
from gnomon_board.schema import Entry, EntryAttempt, RemoteTrial, Season, Submission
from gohr import TrialLog, play
from remote_play import assigned, hidden_season
from serving import Server, serving
from small_season import make_account

pytestmark = pytest.mark.full  # servers and processes are started and killed

DQN = {"kind": "linear_dqn", "plays_on": True, "learning_rate": 0.02}


@dataclass
class Place:
    """A server that the tests of this file share: each has a season of its own on it."""

    database: Database
    server: Server
    token: str


@pytest.fixture(scope="module")
def place(sqlite_template, tmp_path_factory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("place")
    shutil.copy(sqlite_template, folder / "board.sqlite")
    settings = Settings(folder / "data", f"sqlite:///{folder / 'board.sqlite'}")
    with closing(Database(settings.database)) as database:
        token = make_account(database, "ada", "submit")
        with serving(settings) as server:
            yield Place(database, server, token)


@pytest.fixture
def board(place) -> Client:
    return Client(place.server.url, place.token)


_numbers = itertools.count(1)


def new_plan(database: Database, learner: object = "uniform", **changes: object) -> RemotePlan:
    """Make a season, and a plan to play it."""
    season = f"season-{next(_numbers)}"
    hidden_season(database, season, **changes)
    return RemotePlan.from_record({"season": season, "entry": "My learner", "learner": learner})


@pytest.fixture
def plan(place) -> RemotePlan:
    return new_plan(place.database)


def logs_at_home(database: Database, plan: RemotePlan) -> dict[tuple[str, int], TrialLog]:
    """Play the assigned boards here, by the rules that the server keeps until the reveal."""
    with TemporaryDirectory() as folder:
        settings = Settings(Path(folder), str(database.engine.url))
        with AppClient(create_app(settings, database)) as client:
            entry = client.get(f"/api/seasons/{plan.season}/entries").json()[0]["id"]
            assignment = assigned(client, database, entry, Path(folder))
    learner = plan.learner_entry().completed(assignment.board)
    logs = {}
    for rule in assignment.rules:
        for number in range(assignment.trials):
            rng = learner_rng(plan, learner, rule.name, number)
            logs[rule.name, number] = play(
                assignment.deal(rule, number),
                learner.make(assignment.board, rng=rng),
                rule.rule_set,
                horizon=assignment.horizon,
                board_spec=assignment.board,
            )
    return logs


def rows_there(session: Session, plan: RemotePlan) -> dict[tuple[str, int], RemoteTrial]:
    """Return the trials of the first attempt at a plan's season."""
    found = select(RemoteTrial).join(EntryAttempt).join(Entry).join(Season)
    rows = session.scalars(found.where(Season.name == plan.season, EntryAttempt.number == 1))
    return {(row.rule.name, row.number): row for row in rows}


def attempts_there(database: Database, plan: RemotePlan) -> dict[tuple[str, int], bytes]:
    with database.reading() as session:
        return {key: row.actions for key, row in rows_there(session, plan).items()}


def attempts_at_home(database: Database, plan: RemotePlan) -> dict[tuple[str, int], bytes]:
    return {key: log.actions.tobytes() for key, log in logs_at_home(database, plan).items()}


def wait_for(found: Callable[[], bool], what: str) -> None:
    for _ in range(1200):
        if found():
            return
        time.sleep(0.05)
    raise AssertionError(f"expected {what} within a minute")


def test_a_learner_plays_there_as_at_home(place, board, plan):
    seen = []
    summary = play_remotely(plan, board, progress=lambda n, of: seen.append((n, of)))
    assert [summary[name] for name in ("season", "done", "skipped")] == [plan.season, 4, 0]
    assert seen[0] == (0, 4)
    assert seen[-1] == (4, 4)
    assert attempts_there(place.database, plan) == attempts_at_home(place.database, plan)
    n_attempts = sum(log.n_attempts.sum() for log in logs_at_home(place.database, plan).values())
    assert summary["n_attempts"] == n_attempts
    again = play_remotely(plan, board)
    assert [again[name] for name in ("done", "skipped", "n_attempts")] == [0, 4, 0]


def state_of(database: Database, plan: RemotePlan) -> list[str]:
    with database.reading() as session:
        states = select(Submission.state).join(Season).where(Season.name == plan.season)
        return list(session.scalars(states))


def test_the_submission_is_verified_and_another_go_is_counted(place, board, plan):
    play_remotely(plan, board)
    wait_for(lambda: state_of(place.database, plan) == ["verified"], "a verified submission")
    summary = play_remotely(plan, board, again=True)
    assert (summary["attempt"], summary["done"]) == (2, 4)


def test_a_learner_that_plays_on_is_only_told_so_at_home(place, board):
    """Its attempts after the end stay at home, and it learns the same from them."""
    few = {"pieces": [1, 1], "shapes": [0, 0], "colors": [0, 0]}
    plan = new_plan(place.database, DQN, board=few, horizon=250)
    play_remotely(plan, board)
    logs = logs_at_home(place.database, plan)
    assert any((log.outcomes == -4).any() for log in logs.values())
    with place.database.reading() as session:
        for key, row in rows_there(session, plan).items():
            assert row.actions == logs[key].actions[logs[key].outcomes != -4].tobytes()


def test_a_server_that_is_killed_loses_nothing(database, settings, token):
    """Kill -9 twice in the middle of a run; the run waits, and goes on where it was."""
    plan = new_plan(database, rules_per_attempt=6, episodes=12)
    outcome: list[object] = []

    def play(board: Client) -> None:
        try:
            outcome.append(play_remotely(plan, board))
        except Exception as error:
            outcome.append(error)

    def n_attempts() -> int:
        with database.reading() as session:
            return sum(row.n_attempts for row in rows_there(session, plan).values())

    with serving(settings) as first:
        board = Client(first.url, token, patience_s=90)
        player = threading.Thread(target=play, args=[board])
        player.start()
        wait_for(lambda: n_attempts() > 100, "attempts")
        first.kill()
    with serving(settings, port=first.port) as second:
        wait_for(lambda: n_attempts() > 400, "more attempts")
        second.kill()
    with serving(settings, port=first.port):
        player.join(120)
        assert not player.is_alive()
    assert isinstance(outcome[0], dict), outcome[0]
    assert outcome[0]["done"] == 6
    assert attempts_there(database, plan) == attempts_at_home(database, plan)


def test_a_run_that_was_stopped_is_begun_again(place, board, plan, monkeypatch):
    """The learner makes its attempts again, and is answered as before, until new ones come."""

    class Stopped(Exception):  # noqa: N818 - an event
        pass

    sent = 0
    whole = Client.move

    def for_a_while(self: Client, moves: Sequence[Move]) -> object:
        nonlocal sent
        sent += 1
        if sent == 30:
            raise Stopped
        return whole(self, moves)

    monkeypatch.setattr(Client, "move", for_a_while)
    with pytest.raises(Stopped):
        play_remotely(plan, board)
    monkeypatch.undo()
    assert play_remotely(plan, board)["done"] == 4
    assert attempts_there(place.database, plan) == attempts_at_home(place.database, plan)


def test_another_learner_cannot_go_on_with_the_trials_of_one(board, plan):
    play = board.begin(board.entry(plan.season, plan.entry)["id"], 1)
    (reply,) = board.move([Move(trial=play.trials[0].trial, position=0, actions=[143, 143])])
    assert reply.position == 2
    with pytest.raises(
        RefusedError, match=r"expected action 143 as at first at position 0, found \d+"
    ):
        play_remotely(plan, board)


def test_a_yardstick_does_not_play(board, plan):
    plan = RemotePlan.from_record({"season": plan.season, "learner": "rule_player"})
    with pytest.raises(LeaderboardError, match="'rule_player' must be shown the rule"):
        play_remotely(plan, board)


def test_a_misspelt_learner_is_told_before_the_server_hears_of_it():
    plan = RemotePlan.from_record({"season": "s", "learner": "unifrom"})
    nowhere = Client("http://127.0.0.1:1", "t", patience_s=1)
    with pytest.raises(UnknownNameError, match="unknown learner 'unifrom'; did you mean 'uniform'"):
        play_remotely(plan, nowhere)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "field 'season': Field required"),
        ({"season": "s1"}, "field 'learner': Field required"),
        ({"season": "s1", "learner": {}}, "field 'learner': expected a kind"),
        ({"season": "s1", "learner": "uniform", "rules": []}, "field 'rules': unknown field"),
        ({"season": "s1", "learner": "uniform", "seed": -1}, "field 'seed': "),
    ],
)
def test_what_is_no_plan_is_refused(values, message):
    with pytest.raises(LeaderboardError) as error:
        RemotePlan.from_record(values)
    assert str(error.value).startswith(message)
