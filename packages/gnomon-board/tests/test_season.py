"""Seasons: a file becomes rows and a commitment, and at the end the rules are revealed."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest
from sqlalchemy import select

from gnomon_board.drawn_rules import ELEMENTS, Difficulty
from gnomon_board.remote_play import RemotePlan
from gnomon_board.schema import AuditRecord, Season
from small_season import make_season
from submitted import register

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

FILE = """
name = "s1"
title = "Season 1"
division = "hidden"
episodes = 3
horizon = 40
closes = 2999-01-01
[hidden]
rules = ["mine.txt", "other.txt"]
rules_per_attempt = 2
"""
MINE = "# my secret\n(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)\n"


@pytest.fixture
def season(command, settings, tmp_path, monkeypatch):
    """Call a verb of seasons, and return its status, its only result and its error output."""
    (tmp_path / "mine.txt").write_text(MINE)
    (tmp_path / "other.txt").write_text(MINE.replace("star", "circle").replace(",circle", ",star"))

    def call(verb, name, *options):
        monkeypatch.setenv("GNOMON_DATABASE_URL", settings.database)
        where = ["--data", str(settings.data), "--json"]
        told = command("gnomon-board", "season", verb, name, *options, *where)
        return told.status, json.loads(told.out)["results"][0] if told.out else {}, told.err

    return call


@pytest.fixture
def new(season, tmp_path):
    """Make a season of the text of a file."""

    def made(text=FILE):
        (tmp_path / "s1.toml").write_text(text)
        return season("new", "s1.toml")

    return made


def kept(database, name):
    with database.reading() as session:
        found = session.scalars(select(Season).where(Season.name == name)).one()
        assert found.rules
        return found


def test_it_is_committed_to_and_revealed(client, database, new, season):
    assert new()[1] | {"commitment": ""} == {
        "season": "s1", "commitment": "", "n_rules": 2, "n_hidden": 2,
    }  # fmt: skip
    assert new(FILE.replace('"s1"', '"s2"'))[0] == 0
    row = kept(database, "s1")
    assert (row.trials, row.episodes, row.horizon, row.rules_per_attempt) == (1, 3, 40, 2)
    assert row.closes_at == datetime.datetime(2999, 1, 1, tzinfo=datetime.UTC)
    assert [rule.name for rule in row.rules] == ["s1-h01", "s1-h02"]
    assert MINE in [rule.text for rule in row.rules]
    assert len(row.salt) == 64
    assert kept(database, "s2").salt != row.salt
    status, _, err = season("reveal", "s1")
    assert (status, "open until 2999" in err) == (2, True)
    assert season("close", "s1")[0] == 0
    told = season("reveal", "s1")[1]
    assert (told["salt"], told["commitment"]) == (row.salt, row.commitment)
    record = client.get("/api/seasons/s1").json()
    assert [each["text"] for each in record["rules"]] == [rule.text for rule in row.rules]
    assert (record["salt"], record["commitment"]) == (row.salt, row.commitment)
    after = kept(database, "s1")
    assert after.version == row.version + 2
    with database.reading() as session:
        actions = session.scalars(select(AuditRecord.action).order_by(AuditRecord.id)).all()
    assert actions[-3:] == ["season made", "season closed", "season revealed"]


def test_before_the_reveal_nothing_tells_a_hidden_rule(client, database, new):
    new()
    row, answer = kept(database, "s1"), client.get("/api/seasons/s1")
    assert row.commitment in answer.text
    with database.reading() as session:
        details = [json.dumps(each.detail) for each in session.scalars(select(AuditRecord))]
    for told in (answer.text, *details):
        assert row.salt not in told
        assert "bucket" not in told
        assert "my secret" not in told
    hidden = [(r["text"], r["family"], r["tags"]) for r in answer.json()["rules"]]
    assert hidden == [(None, "", [])] * 2


def test_the_place_of_a_rule_in_the_file_tells_nothing(database, new, monkeypatch):
    # Whether they are fit to be played takes long, and is of no consequence here.
    name = "gnomon_board.season_plan.reason_against"
    monkeypatch.setattr(name, lambda *rule, **where: None)
    first: set[str] = set()
    for n in range(30):
        new(FILE.replace('"s1"', f'"s{n}"'))
        first.add(kept(database, f"s{n}").rules[0].text)
        if len(first) == 2:
            return
    pytest.fail("the rule that stands first in the file always comes first")


def test_a_season_without_hidden_rules_commits_to_nothing(database, new, season):
    new('name = "spring"\ndivision = "replayed"\nrules = ["clockwise", "color-match"]')
    row = kept(database, "spring")
    assert row.commitment is row.salt is None
    assert (row.trials, row.episodes, row.horizon) == (20, 200, 100)
    status, _, err = season("reveal", "spring")
    assert (status, "no hidden rules" in err) == (2, True)


def test_a_suite_brings_its_boards(database, new):
    assert new('name = "core"\ndivision = "replayed"\nrules = ["gohr-core"]')[1]["n_rules"] == 15
    assert kept(database, "core").board["pieces"] == [9, 9]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('name = "Season One"', "field 'name': "),
        ('division = "secret"', "field 'division': "),
        ('division = "replayed"', "division 'replayed': expected no table [hidden]"),
        ("hidden", "division 'hidden': expected a table [hidden]"),
        ("division", "field 'division'"),
        ("trials = 0", "field 'trials': "),
        ("trails = 3", "field 'trails': unknown field 'trails'; did you mean 'trials'?"),
        ("chance = 3", "field 'chance': unknown field 'chance'; known: board, closes, "),
        ("hidden = {chanc = 3}", "field 'hidden.chanc': unknown field 'chanc'; did you mean 'ch"),
        ("hidden = {trials = 3}", "field 'hidden.trials': unknown field 'trials'; known: chance, "),
        ("trials = 2", "field 'trials': expected 1 in a hidden season, found 2"),
        ('rules = ["clockwise"]', "field 'rules': expected none in a hidden season"),
        ('hidden = {rules = ["clockwize"]}', "unknown rule or file 'clockwize'"),
        (
            "hidden = {generate = 1, rules_per_attempt = 2}",
            "field 'hidden.rules_per_attempt': expected at most 1",
        ),
        ("hidden = {generate = 0}", "field 'hidden': expected 'generate' or 'rules'"),
        ('hidden = {generate = 1, elements = ["luck"]}', "unknown element 'luck'"),
        ('hidden = {rules = [{name = "x", text = "(*,*,*,*,*)"}]}', "hidden rule 'x': an att"),
        ('hidden = {rules = [{name = "x", text = "(*,red,*,*,1)"}]}', "hidden rule 'x': it c"),
        ("opens = 2020-01-01", "field 'closes': expected a time after 2020"),
        ("name = ", "not a TOML file"),
    ],
)
def test_what_is_no_season_is_refused(new, change, message):
    whole = {"name": 'name = "s1"', "division": 'division = "hidden"'}
    whole |= {"closes": "closes = 2020-01-01", "hidden": "hidden = {generate = 1}"}
    whole[change.partition(" ")[0]] = change if "=" in change else ""
    status, _, err = new("\n".join(whole.values()))
    assert (status, f"s1.toml: {message}" in err) == (2, True), err


def block_of_the_page(name: str) -> str:
    """Return a file that docs/board/hidden-seasons.md shows."""
    page = (Path(__file__).parents[3] / "docs" / "board" / "hidden-seasons.md").read_text("utf-8")
    found = re.search(rf"<!-- file: {name} -->\n\n```toml\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


def test_the_files_of_the_page_are_read(database, new, tmp_path):
    text = block_of_the_page("s1.toml").replace("= 120 ", "= 1 ").replace("= 30 ", "= 1 ")
    assert new(text)[1]["n_hidden"] == 2
    assert kept(database, "s1").opens_at == datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC)
    (tmp_path / "plan.toml").write_text(block_of_the_page("plan.toml"))
    learner = RemotePlan.from_toml(tmp_path / "plan.toml").learner_entry()
    assert learner.params == {"learning_rate": 0.03}


def test_every_knob_has_its_row_on_the_page():
    page = (Path(__file__).parents[3] / "docs" / "board" / "hidden-seasons.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.MULTILINE))
    knobs = Difficulty().model_dump()
    assert set(rows) == {"generate", "rules", "rules_per_attempt", *knobs}
    for name in ("n_elements", "n_buckets", "chance"):
        assert str(list(knobs[name])) in rows[name]
    assert all(f"`{element}`" in page for element in ELEMENTS)


def test_seeds_are_of_each_attempt_alone(client, database, token):
    seeds = set()
    for name in ("s1", "s2"):
        make_season(database, name)
        for k in range(3):
            seeds.add(register(client, token, f"Learner {k}", name)["attempts"][0]["seed"])
    assert len(seeds) == 6
    assert all(0 <= seed < 2**63 for seed in seeds)
