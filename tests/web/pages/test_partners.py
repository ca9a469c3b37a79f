"""Two people in a study: pairing, turns, leaving, messages, and what the export tells of it."""

from __future__ import annotations

import datetime
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from sqlalchemy import select

import gnomon as gn
from gnomon.database.columns import now
from gnomon.database.schema import PlayAttempt, PlaySession, StudyAssignment
from gnomon.experiments import read_series
from gnomon.studies import StudyPlan
from gnomon.studies.export.study_export import write_study
from gnomon.studies.study_store import make_study, study_named

#: Both databases run the studies of test_studies.py; here the pages are what is tested.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

LONG_AGO = datetime.timedelta(hours=1)


@pytest.fixture
def study(database, admin_token):
    """Make a study of two, and return its invitation."""

    def make(**partner):
        record = {
            "name": "pair",
            "title": "Pairs",
            "consent": "Yes.",
            "lists": {"a": ["anything-goes", "anything-goes"]},
            "episodes": 1,
            "board": {"pieces": 4, "shapes": 0, "colors": 0},
            "defaults": {"partner": partner, "points": {}},
            "recruitment": {"unpaired": {"code": "ALONE"}, "left": {"code": "LEFT"}},
        }
        with database.writing() as session:
            return f"/join/{make_study(session, StudyPlan.from_record(record), by=1)[1]}"

    return make


def comes(client, invitation):
    """Let somebody join and begin; return the game."""
    player = client.post(invitation, data={"agree": "yes"}).headers["location"]
    return client.post(f"{player}/begin").headers["location"]


def page(client, game):
    return client.get(f"{game}.json").json()


def waits(client, game):
    answer = client.post(f"{game}/partner.json")
    assert answer.status_code == 200, answer.text
    return answer.json()


def moves(client, game, n=1):
    for _ in range(n):
        view = page(client, game)["view"]
        place = {"episode": view["episode"], "number": len(view["attempts"]) + 1}
        body = {"cell": view["pieces"][0]["cell"], "bucket": 0, **place}
        answer = client.post(f"{game}/attempts.json", json=body)
        assert answer.status_code == 200, answer.text


def players(database):
    with database.reading() as session:
        found = session.scalars(select(StudyAssignment).order_by(StudyAssignment.id))
        return [(each.ending, each.pairing) for each in found]


def backdate(database, **columns):
    with database.writing() as session:
        for row in session.scalars(select(PlaySession).where(PlaySession.state == "playing")):
            for name, value in columns.items():
                setattr(row, name, value)


def test_two_are_paired_take_turns_and_finish_together(client, study, database, tmp_path):
    invitation = study(chat=True)
    first = comes(client, invitation)
    waiting = page(client, first)
    assert (waiting["view"]["state"], waiting["view"]["pieces"]) == ("waiting", [])
    assert 290 < waiting["patience_s"] <= 300
    assert "Waiting for somebody" in client.get(first).text
    second = comes(client, invitation)
    assert first != second
    turns = [page(client, game)["view"]["partner"]["your_turn"] for game in (first, second)]
    assert turns == [True, False]
    piece = page(client, second)["view"]["pieces"][0]["cell"]
    refused = client.post(f"{second}/attempts.json", json={"cell": piece, "bucket": 0})
    assert "partner's" in refused.json()["detail"]
    for game in (first, second, first):
        moves(client, game)
    for _ in range(2):
        body = {"text": "Red\0 first?", "name": "m-1"}
        assert client.post(f"{second}/chat.json", json=body).status_code == 200
    assert page(client, first)["messages"] == [{"mine": False, "text": "Red first?"}]
    assert page(client, second)["messages"] == [{"mine": True, "text": "Red first?"}]
    moves(client, second)
    ends = [page(client, game)["view"] for game in (first, second)]
    assert [end["state"] for end in ends] == ["ended", "ended"]
    assert [[each["mine"] for each in end["attempts"]] for end in ends] == [
        [True, False, True, False],
        [False, True, False, True],
    ]
    # Whoever goes on first begins the next game, in which the other begins.
    later = client.post(f"{second}/continue").headers["location"]
    assert page(client, later)["view"]["partner"]["your_turn"] is True
    moves(client, later)
    other = client.post(f"{first}/continue").headers["location"]
    for game in (other, later, other):
        moves(client, game)
    assert players(database) == [("finished", "paired"), ("finished", "paired")]
    with database.reading() as session:
        assert len(session.scalars(select(PlaySession)).all()) == 2
        movers = session.scalars(select(PlayAttempt.mover).order_by(PlayAttempt.id)).all()
        assert movers == [0, 1, 0, 1, 1, 0, 1, 0]
        write_study(session, study_named(session, "pair"), tmp_path)
    attempts = pl.read_csv(tmp_path / "data/description-attempts_data.csv")
    assert attempts["made_by"].to_list() == [f"pair-000{1 + mover}" for mover in movers]
    people = pl.read_csv(tmp_path / "data/description-participants_data.csv")
    assert people["partner"].to_list() == ["pair-0002", "pair-0001"]
    assert people["n_attempts"].to_list() == [4, 4]
    assert people["points"].to_list() == [20, 20]
    (message,) = pl.read_csv(tmp_path / "data/description-chat_data.csv").to_dicts()
    assert (message["player"], message["attempt"]) == ("pair-0002", 3)
    chat = (tmp_path / "chats/pair-0001.chat.csv").read_text().splitlines()
    assert chat[1].startswith("1,0,0,3,")
    assert "chat,attempt" in (tmp_path / "codebook.csv").read_text()
    scores = pl.read_csv(tmp_path / "pair-scores.csv")
    assert scores["algorithm"].to_list() == ["pair-0001", "pair-0002"] * 2


def test_many_who_come_at_once_are_paired_once_each(client, study, database):
    invitation = study()
    with ThreadPoolExecutor(6) as pool:
        games = list(pool.map(lambda _: comes(client, invitation), range(6)))
        list(pool.map(lambda game: waits(client, game), games * 2))
    turns = [page(client, game)["view"]["partner"]["your_turn"] for game in games]
    assert sorted(turns) == [False] * 3 + [True] * 3
    with database.reading() as session:
        rows = session.scalars(select(PlaySession)).all()
        seated = [number for row in rows for number in (row.assignment_id, row.partner_id)]
    assert sorted(seated) == [1, 2, 3, 4, 5, 6]


def test_whoever_is_not_there_any_more_is_paired_with_nobody(client, study, database):
    invitation = study()
    gone = comes(client, invitation)
    backdate(database, waiting_at=now() - LONG_AGO)
    second = comes(client, invitation)
    assert page(client, second)["view"]["state"] == "waiting"
    # Who comes back says so, and is paired then; of the two games one is left.
    assert waits(client, gone)["view"]["state"] == "playing"
    assert waits(client, second)["view"]["state"] == "playing"
    moves(client, gone)
    moves(client, second)


@pytest.mark.parametrize(
    ("otherwise", "seats", "ending"),
    [("alone", None, ""), ("bot", True, ""), ("leave", None, "unpaired")],
)
def test_who_waits_in_vain_goes_on_as_the_plan_says(
    client, study, database, otherwise, seats, ending
):
    invitation = study(otherwise=otherwise)
    game = comes(client, invitation)
    assert waits(client, game)["view"]["state"] == "waiting"
    backdate(database, created_at=now() - LONG_AGO)
    found = waits(client, game)
    assert players(database) == [(ending, "nobody came")]
    if ending:
        assert found["over"] is True
        end = client.post(f"{game}/continue").headers["location"]
        assert client.get(f"{end}.json").json()["completion_code"] == "ALONE"
        assert "nobody to go on with" in client.get(end).text
        return
    assert (found["view"]["partner"] is not None) == bool(seats)
    moves(client, game)
    if seats:
        assert found["view"]["partner"]["is_bot"] is True
        place = {"episode": 1, "number": 2}
        answers = [client.post(f"{game}/partner.json", json=place).json() for _ in range(2)]
        assert [len(each["view"]["attempts"]) for each in answers] == [2, 2]
    else:
        moves(client, game, 3)
        # The next series does not wait again.
        following = client.post(f"{game}/continue").headers["location"]
        assert page(client, following)["view"]["state"] == "playing"
    # Who comes now waits for somebody else.
    assert page(client, comes(client, invitation))["view"]["state"] == "waiting"


def test_a_partner_who_does_nothing_has_walked_away(client, study, database, tmp_path):
    invitation = study(otherwise="alone", play="adversarial")
    first, second = comes(client, invitation), comes(client, invitation)
    moves(client, first)
    view = page(client, second)
    assert 290 < view["patience_s"] <= 300
    assert 290 < page(client, first)["patience_s"] <= 300
    assert waits(client, second)["view"]["partner"]["has_left"] is False
    backdate(database, changed_at=now() - LONG_AGO)
    assert waits(client, first)["view"]["partner"]["has_left"] is False
    assert waits(client, second)["view"]["partner"] == {
        **view["view"]["partner"],
        "has_left": True,
        "your_turn": True,
    }
    assert players(database) == [("left", "walked away"), ("", "left by partner")]
    cell = view["view"]["pieces"][0]["cell"]
    late = client.post(f"{first}/attempts.json", json={"cell": cell, "bucket": 0})
    assert late.status_code == 409
    end = client.post(f"{first}/continue").headers["location"]
    assert client.get(f"{end}.json").json()["completion_code"] == "LEFT"
    moves(client, second, 3)
    following = client.post(f"{second}/continue").headers["location"]
    assert page(client, following)["view"]["partner"] is None
    moves(client, following, 4)
    assert players(database)[1] == ("finished", "left by partner")
    with database.reading() as session:
        write_study(session, study_named(session, "pair"), tmp_path)
    people = pl.read_csv(tmp_path / "data/description-participants_data.csv")
    assert people["pairing"].to_list() == ["walked away", "left by partner"]
    assert people["n_attempts"].to_list() == [1, 7]
    # As transcripts they are scored each for the own attempts.
    series = read_series([tmp_path], trial_lists=tmp_path / "trial-lists")
    assert [(each.player, each.number, len(each.countable)) for each in series] == [
        *(("pair-0001", 0, 1), ("pair-0002", 0, 3), ("pair-0002", 1, 4)),
    ]
    # An adversary has points for the own share of the pieces: one and three of four.
    boards = (
        pl.read_csv(tmp_path / "data/description-boards_data.csv").unique("series").sort("series")
    )
    assert boards["points"].to_list() == [2, 10]
    assert boards["partner_points"].to_list() == [7, None]


def test_a_partner_who_leaves_is_told_of_at_once(client, study, database):
    invitation = study(otherwise="bot", play="cooperative")
    first, second = comes(client, invitation), comes(client, invitation)
    moves(client, first)
    client.post(f"{first}/leave")
    partner = page(client, second)["view"]["partner"]
    assert (partner["has_left"], partner["is_bot"], partner["your_turn"]) == (True, True, True)
    assert players(database) == [("left", "left"), ("", "left by partner")]
    moves(client, second)
    assert len(waits(client, second)["view"]["attempts"]) == 3


def test_who_comes_again_by_the_same_identity_keeps_the_seat(client, study, database):
    invitation = study()
    first, second = comes(client, invitation), comes(client, invitation)
    moves(client, first)
    with database.writing() as session:
        from gnomon.studies.participants import rename_games

        player = session.get_one(StudyAssignment, 2)
        rename_games(session, player, "k" * 32)
    assert client.get(f"{second}.json").status_code == 404
    assert page(client, first)["view"]["partner"]["your_turn"] is False


def test_the_loser_is_asked_what_the_opponent_has_found(client, database, admin_token, tmp_path):
    record = {
        "name": "duel",
        "title": "Duel",
        "consent": "Yes.",
        "rule_texts": {"low": "(*,*,*,*,0)\n"},
        "lists": {"a": ["low", {"rule": "low", "partner": {"play": "cooperative"}}]},
        "already": {"a": 1},
        "episodes": 1,
        "board": {"pieces": 4, "shapes": 0, "colors": 0},
        "defaults": {
            "partner": {"play": "adversarial"},
            "incentive": {"kind": "mastery", "streak": 3},
            "guess": "mastery",
        },
    }
    with database.writing() as session:
        invitation = f"/join/{make_study(session, StudyPlan.from_record(record), by=1)[1]}"
    winner, loser = comes(client, invitation), comes(client, invitation)
    view = page(client, winner)["view"]
    body = {"cell": view["pieces"][0]["cell"], "bucket": 1}
    assert client.post(f"{winner}/attempts.json", json=body).status_code == 200
    body |= {"bucket": 2}
    assert client.post(f"{loser}/attempts.json", json=body).status_code == 200
    moves(client, winner, 3)
    asked = [page(client, game) for game in (winner, loser)]
    assert [each["guess_due"] for each in asked] == [True, True]
    assert [each["guess_is_of_partner"] for each in asked] == [False, True]
    assert "Which one?" in client.get(loser).text
    rewards = [each["view"]["reward"] for each in asked]
    assert [each["smiles"] for each in rewards] == [[False, False, True, True, True]] * 2
    assert [each["own"] for each in rewards] == [
        [True, False, True, True, True],
        [False, True, False, False, False],
    ]
    for game, text in ((winner, "All go to 0"), (loser, "To 0, I think")):
        answer = client.post(f"{game}/guess.json", json={"guess": text, "confidence": 2})
        assert answer.status_code == 200
    # The second series is cooperative: the list is in the folders of both plays.
    games = [client.post(f"{game}/continue").headers["location"] for game in (winner, loser)]
    for game in (*games[::-1], games[1]):
        moves(client, game)
    with database.reading() as session:
        write_study(session, study_named(session, "duel"), tmp_path)
    assert {path.parent.name for path in tmp_path.glob("trial-lists/*/a.csv")} == {
        "adve.duel",
        "coop.duel",
    }
    series = read_series([tmp_path], trial_lists=tmp_path / "trial-lists")
    assert [(each.player, each.number, len(each.countable)) for each in series] == [
        *(("duel-0001", 0, 4), ("duel-0002", 0, 1), ("duel-0001", 1, 3)),
    ]
    runs = {name: tmp_path / f"run-{name}" for name in ("adversarial", "cooperative")}
    assert all(gn.verify(run).ok for run in runs.values())
    errors = {
        name: gn.score(run).frame["score"].fill_nan(None).to_list() for name, run in runs.items()
    }
    assert errors == {"adversarial": [1, 1], "cooperative": [0, None]}
    players = pl.read_parquet(tmp_path / "data" / "participants.parquet")
    assert players["trial"].to_list() == [0, 1]
    answers = pl.read_parquet(tmp_path / "data" / "answers.parquet")
    assert answers.select("player", "name", "text").rows() == [
        ("duel-0001", "guess", "All go to 0"),
        ("duel-0002", "partner_guess", "To 0, I think"),
    ]
