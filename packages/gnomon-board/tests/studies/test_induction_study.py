"""A study under the conditions of learners and models: evidence, test boards, outcomes."""

from __future__ import annotations

import csv
import re

import pytest

import gohr
from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.studies import StudyPlan, make_study, write_study
from gohr.errors import ConfigError
from gohr.experiments import load_suite
from gohr.induction import RuleTrial, evidence, read_outcomes
from playing import go_on

RULE = {rule.name: rule for rule in load_suite("gohr-basic").entries}["cm_RBKY"]
TO_RED_FIRST = {"RED": 0, "BLUE": 1, "BLACK": 2, "YELLOW": 3}
SHOWN = {"rule": "cm_RBKY", "evidence": "random", "episodes": 2, "tests": 2}
OWN = [
    {"rule": "cm_RBKY", "episodes": 3, "mastery": 10},
    {"rule": "cm_RBKY", "evidence": "own", "tests": 2},
]


def plan(*series, **fields):
    record = {"name": "s", "title": "S", "consent": "Yes.", "lists": {"a": series}}
    return StudyPlan.from_record(record | fields)


@pytest.fixture
def client(settings, database):
    with AppClient(create_app(settings, database)) as client:
        yield client


def join(client, database, *series, **fields):
    """Make a study, and return functions that join it and go on."""
    with database.writing() as session:
        key = make_study(session, plan(*series, trials=2, **fields))[1]

    def player():
        return client.post(f"/api/join/{key}", json={"agree": True}).json()["address"]

    return player


def solve(client, game, buckets=TO_RED_FIRST):
    """Move every piece of every board into the bucket of its colour; return all answers."""
    answers = [client.get(f"/api{game}").json()]
    while (view := answers[-1]["view"])["state"] != "ended":
        if view["state"] == "board over":
            answers.append(client.post(f"/api{game}/next").json())
            continue
        piece = view["pieces"][0]
        body = {"cell": piece["cell"], "bucket": buckets[piece["color"]]}
        answers.append(client.post(f"/api{game}/attempts", json=body).json())
    return answers


def codes_of(view):
    pieces = (gohr.Piece(0, p["cell"], p["shape"], p["color"]) for p in view["pieces"])
    return list(gohr.Board(tuple(pieces)).codes(gohr.BoardSpec()))


def test_people_conclude_as_learners_and_models_do(client, database, tmp_path):
    player = join(client, database, SHOWN)
    for trial, buckets in enumerate((TO_RED_FIRST, TO_RED_FIRST | {"YELLOW": 0})):
        me = player()
        address = go_on(client, me)
        assert address.endswith("/evidence")
        drawn = RuleTrial(RULE, trial)
        log = evidence(drawn, "random", 2)
        for board, n in enumerate(log.n_attempts):
            page = client.get(f"{address}?board={board}&step={n}").text
            assert page.count("<li class=") == n
            assert ("To the test boards" in page) == (board == 1)
        game = address.removesuffix("/evidence")
        answers = solve(client, game, buckets)
        dealt = [x["view"] for x in answers if not x["view"]["attempts"]]
        assert [codes_of(view) for view in dealt] == drawn.boards("test", 2).tolist()
        said = {(a["outcome"], x["view"]["errors"]) for x in answers for a in x["view"]["attempts"]}
        assert said == {("placed", 0)}  # whether the rule accepts it or not
        assert not any(x["view"]["mastered"] or x["view"]["streak"] for x in answers)
        assert answers[-1]["guess_due"]
        guess = {"guess": "by colour", "confidence": 4}
        assert client.post(f"/api{game}/guess", json=guess).status_code == 200
        assert "errors" not in client.get(f"{game}/result").text
        assert go_on(client, me) == me
    out = tmp_path / "out"
    with database.reading() as session:
        write_study(session, "s", out)
    found = read_outcomes(out)
    assert [(x.player, x.tester, x.group, x.trial, x.n_boards) for x in found] == [
        ("people", "random", "fixed-bucket", trial, 2) for trial in range(2)
    ]
    assert [(x.n_solved, x.n_tests, x.ideal_on_same) for x in found] == [(2, 2, 1), (0, 2, 1)]
    assert 0 < found[1].prefix < 1
    with (out / "attempts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {(row["outcome"], row["outcome_words"]) for row in rows} == {("", "placed")}
    assert len(rows) == 2 * 2 * 9


def test_the_own_attempts_of_a_player_are_evidence(client, database, tmp_path):
    me = join(client, database, *OWN)()
    first = go_on(client, me)
    board = client.get(f"/api{first}").json()["view"]
    assert codes_of(board) == RuleTrial(RULE).boards("evidence", 1)[0].tolist()
    client.post(f"/api{first}/attempts", json={"cell": board["pieces"][0]["cell"], "bucket": 0})
    solve(client, first)
    second = go_on(client, me)
    said = client.get(second).text
    assert "You tried these moves in the previous puzzle. The rule is the same." in said
    client.post(f"/api{second.removesuffix('/evidence')}/give-up")  # no test board is solved
    with database.reading() as session:
        write_study(session, "s", tmp_path)
    [found] = read_outcomes(tmp_path)
    assert (found.tester, found.n_boards, found.n_solved, found.n_tests) == ("own", 0, 0, 2)
    assert found.m_star in (0, 1)
    assert gohr.verify(tmp_path / "run").ok  # without the test boards


def test_a_step_of_evidence_marks_its_own_attempt_only(client, database):
    address = go_on(client, join(client, database, SHOWN)())
    outcomes = set()
    for board, n in enumerate(evidence(RuleTrial(RULE), "random", 2).n_attempts):
        begin = client.get(f"{address}?board={board}").text
        assert not re.search(r'class="(piece|bucket) [^"]*target', begin)
        for step in range(1, n + 1):
            page = client.get(f"{address}?board={board}&step={step}").text
            classes, cell, bucket = re.findall(
                r'<li class="([^"]*now)" data-cell="(\d+)" data-bucket="(\d)"', page
            )[0]
            pieces = re.findall(r'class="piece [^"]*target[^"]*" data-cell="(\d+)"', page)
            is_refused = "yes" not in classes
            on_board = (
                f'class="piece x{(int(cell) - 1) % 6 + 1} y{(int(cell) - 1) // 6 + 1}' in page
            )
            assert pieces == ([cell] if is_refused and on_board else [])
            assert re.findall(r'class="bucket [^"]*target[^"]*" data-bucket="(\d)"', page) == [
                bucket
            ]
            outcomes.add((is_refused, bool(pieces)))
    assert outcomes >= {(False, False), (True, True)}


def test_players_of_test_boards_are_not_asked_for_few_errors(client, database):
    for name, series, is_asked in (("a", OWN, False), ("b", [SHOWN], False), ("c", OWN[:1], True)):
        page = client.get(join(client, database, *series, name=name)()).text
        assert "hidden rule" in page
        assert ("as few errors" in page) == is_asked


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ([OWN[1]], "series 1: expected the previous series to play cm_RBKY"),
        ([SHOWN, OWN[1]], "series 2: expected the previous series"),
        ([SHOWN | {"mastery": 10}], "test boards have no replies"),
        ([SHOWN | {"evidence": "randm"}], "'own', 'random', 'positive', 'negative' or"),
        ([SHOWN | {"tests": 0}], "greater than or equal to 1"),
    ],
)
def test_conditions_that_cannot_be_played_are_refused(series, message):
    with pytest.raises(ConfigError) as caught:
        plan(*series)
    assert message in str(caught.value)


def test_a_plan_lists_every_screen(command, tmp_path):
    (tmp_path / "plan.toml").write_text(
        'name = "s"\ntitle = "S"\nconsent = "Yes."\n[lists]\n'
        'a = [{rule = "cm_RBKY", evidence = "negative", episodes = 1, tests = 3}]\n'
    )
    said = command("gnomon-board study check plan.toml")
    assert said.status == 0, said.err
    for line in ("cm_RBKY: negative attempts on 1 board", "3 boards of 9 pieces, no replies"):
        assert line in said.out
