"""Participants of a study: pages in their order, identifiers, endings, attempts made once."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from sqlalchemy import select

import playing
from app_client import AppClient
from gnomon_board.schema import PlayAttempt, Study, StudyAnswer, StudyAssignment, now
from gnomon_board.studies import write_study
from gohr import verify
from playing import go_on, invite, play_out
from submitted import bearer

#: Both databases run the studies of test_studies.py; here the pages are what is tested.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

PLAN = {
    "name": "pilot",
    "title": "A pilot",
    "consent": "You may stop.",
    "lists": {"a": [{"rule": "anything-goes", "guess": "series"}, "anything-goes"]},
    "episodes": 1,
    "horizon": 40,
    "board": {"pieces": 2, "shapes": 0, "colors": 0},
    "defaults": {"points": {}},
    "instructions": ["One", "Two"],
    "quiz": {
        "tries": 2,
        "questions": [
            {"name": "q1", "title": "One?", "kind": "choice", "choices": ["y", "n"], "answer": "y"}
        ],
    },
    "demographics": [
        {"name": "age", "title": "Age?", "kind": "number", "least": 18, "most": 99},
        {"name": "pension", "title": "Since?", "required": False},
    ],
    "debrief": "It was *nothing*.",
    "recruitment": {
        "identity": "PID",
        "parameters": ["STUDY"],
        "finished": {"code": "DONE", "url": "https://panel.example/?cc={code}&who={PID}"},
        "left": {"code": "LEFT"},
        "screened_out": {"code": "OUT"},
    },
}


def toml(value):
    """Return a value of the plan as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} = {toml(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return json.dumps(value)


@pytest.fixture
def study(database, admin_token):
    """The address of the invitation to a study of the plan."""
    return invite(database, **PLAN)


def join(client, invitation, query="?PID=abc&STUDY=s1&token=secret"):
    return playing.join(client, invitation + query)


def step(client, player, name, **given):
    return client.post(f"/api{player}/step", json={"step": name, **given})


def read(client, player):
    """Read the instructions."""
    for page in ("0", "1"):
        assert step(client, player, "instructions", page=page).status_code == 200


def begun(client, study):
    """Join the study, and return the player and the first game."""
    player = join(client, study)
    read(client, player)
    assert step(client, player, "quiz", q1="y").status_code == 200
    return player, go_on(client, player)


def where(client, player):
    """Return the current step of a player, by the form of its page."""
    text = client.get(player).text
    asked = re.search(r'name="step" value="(\w+)"', text)
    return asked[1] if asked else "play" if "/go-on" in text else "end"


def test_pages_come_in_their_order_to_the_code(client, study, database, admin_token):
    text = client.get(f"{study}?PID=abc&token=secret").text
    assert "?PID=abc" in text
    assert "secret" not in text
    player = join(client, study)
    assert where(client, player) == "instructions"
    # A page that was sent twice, or before its time, is taken once.
    assert step(client, player, "instructions", page="0").status_code == 200
    assert step(client, player, "instructions", page="0").status_code == 200
    assert step(client, player, "demographics", age="44").status_code == 200
    assert "<p>Two</p>" in client.get(player).text
    assert step(client, player, "instructions", page="1").status_code == 200
    assert "Some answers are not right" in step(client, player, "quiz", q1="n").text
    assert step(client, player, "quiz", q1="maybe").status_code == 422
    step(client, player, "quiz", q1="y")
    assert where(client, player) == "play"
    game = go_on(client, player)
    play_out(client, game)
    # The rule is asked for before anything goes on, and kept once.
    assert go_on(client, player) == game
    body = {"guess": "Any\0thing", "confidence": 5}
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(client.post, f"/api{game}/guess", json=body) for _ in range(4)]
    assert [each.result().json()["guess_due"] for each in sent] == [False] * 4
    following = go_on(client, player)
    assert client.post(f"/api{following}/guess", json=body).status_code == 409
    play_out(client, following)
    with database.reading() as session:
        (assignment,) = session.scalars(select(StudyAssignment))
        assert (assignment.ending, assignment.completion_code) == ("finished", "DONE")
        assert assignment.identifiers == {"PID": "abc", "STUDY": "s1"}
        (guess,) = session.scalars(select(StudyAnswer).where(StudyAnswer.page == "guess"))
        assert guess.text == "Anything"
    end = go_on(client, player)
    assert where(client, end) == "demographics"
    assert "DONE" not in client.get(end).text
    assert step(client, end, "demographics", age="7").status_code == 422
    refused = step(client, end, "demographics", age="161", pension="1999")
    assert refused.status_code == 422
    assert "Please look again at the question that is marked." in refused.text
    assert refused.json()["wrong"] == ["age"]
    step(client, end, "demographics", age="44", school="none")
    with database.reading() as session:
        kept = session.scalars(select(StudyAnswer).where(StudyAnswer.page == "demographics"))
        assert [(each.name, each.text) for each in kept] == [("age", "44"), ("pension", "")]
    page = client.get(end)
    assert "It was <em>nothing</em>." in page.text
    assert 'href="https://panel.example/?cc=DONE&amp;who=abc"' in page.text
    assert "You have 20 points." in page.text
    told = client.get("/studies/1", headers=bearer(admin_token)).text
    assert "DONE" in told
    assert "abc" not in told


def test_the_check_lists_every_screen(client, study, command, tmp_path):
    """One walk through the study, noting each page and form that is shown."""
    seen = ["consent"]
    player = join(client, study)
    while (here := where(client, player)) != "play":
        seen.append(here)
        number = re.search(r'name="page" value="(\d+)"', client.get(player).text)
        step(client, player, here, page=number[1], q1="y")
    seen.append("start")
    at = go_on(client, player)
    while at.startswith("/play/"):
        seen.append("series")
        play_out(client, at)
        if client.get(f"/api{at}").json()["guess_due"]:
            seen.append("guess")
            client.post(f"/api{at}/guess", json={"guess": "any", "confidence": 1})
        assert client.get(f"{at}/result").status_code == 200
        seen.append("result")
        at = go_on(client, player)
    seen.append(where(client, at))
    step(client, at, "demographics", age="44")
    seen.append(where(client, at))
    lines = [f"{name} = {toml(value)}" for name, value in PLAN.items()]
    (tmp_path / "plan.toml").write_text("\n".join(lines))
    told = json.loads(command("gnomon-board study check plan.toml --json").out)
    assert seen == [each["kind"] for each in told["results"] if each["record"] == "screen"]


def test_the_same_browser_continues_and_is_asked_for_nothing_twice(client, study, database):
    first, game = begun(client, study)
    cookie = client.cookies.jar._cookies["127.0.0.1"]["/"]["gnomon_study_1"]
    assert cookie.value == first.removeprefix("/players/")
    assert cookie.has_nonstandard_attr("HttpOnly")
    play_out(client, game)
    back = client.get(f"{study}?PID=abc")
    assert (back.status_code, back.headers["location"]) == (303, first)
    assert join(client, study) == first
    assert where(client, first) == "play"
    assert go_on(client, first) == game
    assert client.get(f"/api{game}").json()["guess_due"] is True
    with database.writing() as session:
        session.scalars(select(Study)).one().closes_at = now()
    assert client.get(f"{study}?PID=abc").headers["location"] == first
    assert client.get(f"{study}?PID=other").status_code == 403
    with database.writing() as session:
        session.scalars(select(Study)).one().closes_at = None
    assert client.get(f"{study}?PID=other").status_code == 200, "two people may share a browser"
    assert join(client, study, "?PID=other") != first
    with database.reading() as session:
        assert len(session.scalars(select(StudyAssignment)).all()) == 2


def test_an_identifier_gives_no_access_to_what_was_begun(client, study, app, database):
    """Identifiers are often public: knowing one does not give access to the session."""
    player, game = begun(client, study)
    with AppClient(app) as thief:
        notice = thief.get(f"{study}?PID=abc")
        assert notice.status_code == 409
        assert "in another browser" in notice.text
        assert "<form" not in notice.text
        refused = thief.post(f"/api{study}?PID=abc", json={"agree": True})
        assert (refused.status_code, "set-cookie" in refused.headers) == (409, False)
    for address in (player, game):
        assert client.get(address).status_code == 200
    play_out(client, game)


def test_without_an_identifier_the_page_offers_to_continue(client, study):
    player = join(client, study, "")
    page = client.get(study)
    assert page.status_code == 200
    assert f'href="{player}"' in page.text
    assert "Take part" in page.text
    assert join(client, study, "") != player
    client.post(f"/api{player}/leave")


def test_who_fails_the_quiz_is_screened_out_and_takes_no_place(client, study, database):
    player = join(client, study)
    read(client, player)
    step(client, player, "quiz", q1="n")
    assert step(client, player, "quiz", q1="n").status_code == 200
    page = client.get(player).text
    assert "This study ends here for you" in page
    assert ">OUT<" in page
    assert go_on(client, player) == player


def test_the_pages_before_play_cannot_be_passed_over(client, study):
    player = join(client, study)
    assert client.post(f"/api{player}/go-on").status_code == 409
    read(client, player)
    assert client.post(f"/api{player}/go-on").status_code == 409
    assert where(client, player) == "quiz"


def test_wrong_answers_that_are_sent_twice_are_one_try(client, study, database):
    player = join(client, study)
    read(client, player)
    assert 'name="page" value="0"' in client.get(player).text
    with ThreadPoolExecutor(4) as pool:
        wrong = [pool.submit(step, client, player, "quiz", page="0", q1="n") for _ in range(4)]
    told = sorted((each.result().json() for each in wrong), key=lambda each: each["page"])
    assert [(each["page"], each["wrong"]) for each in told] == [(0, [])] * 3 + [(1, ["q1"])]
    assert where(client, player) == "quiz"
    assert 'name="page" value="1"' in client.get(player).text
    assert step(client, player, "quiz", page="1", q1="y").status_code == 200
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(client.post, f"/api{player}/go-on") for _ in range(4)]
    assert len({each.result().json()["address"] for each in asked}) == 1
    with database.reading() as session:
        answers = session.scalars(select(StudyAnswer).order_by(StudyAnswer.id))
        assert [each.text for each in answers] == ["n", "y"]


def test_who_leaves_in_the_middle_gets_a_code_and_nothing_goes_on(client, study):
    player, game = begun(client, study)
    end = client.post(f"/api{player}/leave").json()["address"]
    page = client.get(end).text
    assert "You have left the study" in page
    assert ">LEFT<" in page
    assert "nothing" not in page
    assert client.post(f"/api{player}/leave").status_code == 409
    view = client.get(f"/api{game}").json()["view"]
    move = {"cell": view["pieces"][0]["cell"], "bucket": 0}
    assert client.post(f"/api{game}/attempts", json=move).status_code == 409
    assert client.get(f"/api{game}").json()["view"] == view
    assert client.post(f"/api{end}/leave").status_code == 409


def test_an_attempt_that_is_asked_for_again_is_made_once(client, study, database):
    _, game = begun(client, study)
    first, second = client.get(f"/api{game}").json()["view"]["pieces"]
    times = {"touch_ms": 300, "action_ms": 900, "away_ms": 20, "animation_ms": 270}
    body = {"cell": first["cell"], "bucket": 1, "episode": 1, "number": 1, "client": times}
    answers = [client.post(f"/api{game}/attempts", json=body) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({answer.text for answer in answers}) == 1
    other = {**body, "cell": second["cell"]}
    assert client.post(f"/api{game}/attempts", json=other).status_code == 409
    early = {**other, "number": 3}
    assert client.post(f"/api{game}/attempts", json=early).status_code == 409
    with database.reading() as session:
        (row,) = session.scalars(select(PlayAttempt))
        assert (row.client_touch_ms, row.client_action_ms, row.client_away_ms) == (300, 900, 20)
    # A board that was dealt already is not dealt twice, and an ending is one ending.
    client.post(f"/api{game}/attempts", json={**other, "number": 2})
    with AppClient(client._transport_of_app._app) as fresh:
        # Another process, without the game in memory, knows the attempt as well.
        again = fresh.post(f"/api{game}/attempts", json={**other, "number": 2})
        assert again.status_code == 200
    with database.reading() as session:
        assert len(session.scalars(select(PlayAttempt)).all()) == 2


def test_two_tabs_are_one_participant_and_make_no_attempt_of_the_other(client, study, database):
    """A form or a move of a tab that was left behind is answered, refused, and never made twice."""
    player, game = begun(client, study)
    assert join(client, study) == player
    assert step(client, player, "instructions", page="0").status_code == 200
    assert step(client, player, "quiz", q1="n").json()["wrong"] == []
    assert where(client, player) == "play"
    first, second = client.get(f"/api{game}").json()["view"]["pieces"]

    def tab(piece):
        body = {"cell": piece["cell"], "bucket": 1, "episode": 1, "number": 1}
        return client.post(f"/api{game}/attempts", json=body).status_code

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(tab, (first, second))) == [200, 409]
    made = client.get(f"/api{game}").json()["view"]["attempts"]
    assert len(made) == 1
    play_out(client, game)
    assert client.post(f"/api{game}/attempts", json={"cell": 1, "bucket": 0}).status_code == 422
    with ThreadPoolExecutor(4) as pool:
        sent = [pool.submit(client.post, f"/api{player}/leave") for _ in range(4)]
    assert sorted(each.result().status_code for each in sent) == [200, 409, 409, 409]
    with database.reading() as session:
        assert len(session.scalars(select(StudyAssignment)).all()) == 1


def test_who_is_who_leaves_the_server_only_when_asked_for(client, study, database, tmp_path):
    _, game = begun(client, study)
    play_out(client, game)
    for name, asked in (("without", False), ("with", True)):
        with database.reading() as session:
            paths = write_study(session, "pilot", tmp_path / name, identifiers=asked)
        files = [path for path in paths if path.is_file()]
        told = b"".join(path.read_bytes() for path in files if path.suffix in (".csv", ".json"))
        assert (b"abc" in told) is asked
    table = pl.read_csv(tmp_path / "with" / "identifiers.csv")
    assert json.loads(table["identifiers"][0]) == {"PID": "abc", "STUDY": "s1"}


def test_texts_that_look_like_formulas_are_no_formulas_in_csv(
    client, study, database, admin_token, tmp_path
):
    client.headers["User-Agent"] = "Mozilla/5.0 (Android 14; Mobile; rv:128.0) Firefox/128.0"
    player, game = begun(client, study)
    play_out(client, game)
    formula = '=HYPERLINK("http://x.example","-1")'
    client.post(f"/api{game}/guess", json={"guess": f"{formula}\r\nor so", "confidence": 5})
    with database.reading() as session:
        write_study(session, "pilot", tmp_path)
    table = pl.read_csv(tmp_path / "answers.csv")
    assert table["text"].to_list() == ["y", f"'{formula}\nor so"]
    codebook = pl.read_csv(tmp_path / "codebook.csv")
    for name in ("participants", "attempts", "answers"):
        columns = codebook.filter(pl.col("table") == name)["column"].to_list()
        assert pl.read_csv(tmp_path / f"{name}.csv").columns == columns
    (player,) = pl.read_csv(tmp_path / "participants.csv").iter_rows(named=True)
    assert (player["player"], player["n_attempts"], player["points"]) == ("pilot-0001", 2, 10)
    assert (player["browser"], player["device"]) == ("Firefox 128", "phone, Android")
    attempts = pl.read_csv(tmp_path / "attempts.csv")
    assert attempts["outcome_words"].to_list() == ["accepted", "accepted"]
    assert attempts["client_action_ms"].null_count() == 2, "a missing number is an empty cell"
    assert "apostrophe" in (tmp_path / "codebook.csv").read_text()
    assert verify(tmp_path / "run").ok
