"""Studies at the command line: made of a plan, joined, exported, closed, invited to anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import gohr
from app_client import AppClient
from gnomon_board import Settings, create_app
from gnomon_board.database import Database
from gnomon_board.studies import read_plan
from gohr.experiments import score_trial
from gohr.people import read_transcripts
from playing import begin, go_on, join, play_out
from small_season import empty_board

PLAN = """
name = "pilot"
title = "Which rules do people find?"
consent = "Every attempt is kept."
episodes = 1
horizon = 4
[lists]
a = ["anything-goes"]
b = ["clockwise"]
"""


@pytest.fixture
def study(command, tmp_path):
    """Run a verb of studies on a board whose data are in a folder."""
    empty_board(tmp_path / "data")
    Path("plan.toml").write_text(PLAN)
    return lambda words: command(f"gnomon-board study {words} --data data --json")


@contextmanager
def browser(made) -> Iterator[tuple[AppClient, str]]:
    """Serve the board to a browser in this process; give it with the place of an invitation."""
    settings = Settings(Path("data"))
    database = Database(settings.database)
    (invited,) = made.results
    with AppClient(create_app(settings, database)) as client:
        yield client, "/join/" + invited["invitation"].split("/join/")[1]
    database.close()


def test_a_study_from_its_plan_to_its_files(study):
    made = study("new plan.toml --public-url http://b.example/")
    (record,) = made.results
    assert list(record) == ["id", "study", "invitation"]
    assert record["study"] == "pilot"
    assert record["invitation"].startswith("http://b.example/join/")
    assert study("export pilot none").status == 2
    with browser(made) as (client, invitation):
        player = join(client, invitation)
        play_out(client, go_on(client, player))
        assert "Thank you" in client.get(go_on(client, player)).text
    paths = study("export pilot out").results
    found = {Path(each["path"]).name: Path(each["path"]) for each in paths}
    (series,) = read_transcripts(found["pilot-transcript.csv"])
    assert series.player == "pilot-0001"
    scores = gohr.score(found["run"], "tce")
    assert scores.runs("people", series.rule).tolist() == [score_trial(series.log, "tce")]
    assert {"anything-goes.txt", "clockwise.txt"} <= set(found), "also what nobody has played yet"
    again = read_plan(found["study_plan.json"])
    assert again.rules == ("anything-goes", "clockwise")


def test_a_closed_study_takes_nobody_until_it_invites_anew(study):
    made = study("new plan.toml")
    assert study("close pilot").results == [{"study": "pilot", "closed": True}]
    study("close pilot").assert_refused("study 'pilot' is closed already")
    again = study("invite pilot")
    assert list(again.results[0]) == ["study", "invitation"]
    for invited, status in ((made, 404), (again, 200)):
        with browser(invited) as (client, invitation):
            assert client.get(invitation).status_code == status


def test_what_is_not_there_is_told_in_a_line(study):
    study("export none out").assert_refused("there is no study 'none'")
    Path("plan.toml").write_text(PLAN.replace("anything-goes", "nothing-goes"))
    study("new plan.toml").assert_refused("nothing-goes")


def test_a_plan_is_checked_without_a_server(command):
    Path("plan.toml").write_text(PLAN)
    records = command("gnomon-board study check plan.toml --json").results
    kinds = ["consent", "start", "series", "result", "end"]
    assert [each["kind"] for each in records] == kinds * 2
    assert list(records[0]) == ["record", "rule_list", "number", "kind", "text"]
    Path("odd.toml").write_text(PLAN.replace("anything-goes", "nothing-goes"))
    records = command("gnomon-board study check odd.toml --json").results_with(status=1)
    assert list(records[-1]) == ["record", "severity", "where", "message"]
    assert command("gnomon-board study check").status == 2


def test_the_first_study_makes_the_board(command, tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "bad.toml").write_text(PLAN.replace("episodes", "epsodes"))
    assert command("gnomon-board study new bad.toml").status == 2
    assert not (tmp_path / "board-data").exists()
    first = command("gnomon-board study new plan.toml --json")
    assert "/join/" in first.results[0]["invitation"]
    assert "first admin token, shown only now: gnomon_" in first.err


def test_a_player_is_excluded_and_included_again(study):
    with browser(study("new plan.toml")) as (client, invitation):
        play_out(client, begin(client, invitation))
    for expected in (True, False):
        study("export pilot out --identifiers")
        verb = f"exclude pilot pilot-0001{'' if expected else ' --undo'}"
        assert study(verb).results == [{"player": "pilot-0001", "excluded": expected}]
        assert study(verb).status == 2, "done already"
        study("export pilot out")
        tables = [path for path in Path("out").glob("*.csv") if "pilot-0001" in path.read_text()]
        others = set() if expected else {"attempts.csv", "pilot-transcript.csv", "pilot-boards.csv"}
        assert {each.name for each in tables} == {"participants.csv"} | others
        assert Path("out/run").exists() is not expected
    assert study("exclude pilot nobody").status == 2
