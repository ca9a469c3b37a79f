"""Seasons: a file becomes rows and a commitment, and at the end the rules are revealed."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from gnomon.errors import GnomonError
from gnomon_board.commitment import Reveal, canonical_text
from gnomon_board.drawn_rules import ELEMENTS, Difficulty
from gnomon_board.entries import assigned_seed
from gnomon_board.errors import Conflict, LeaderboardError, NotAllowed
from gnomon_board.remote_play import RemotePlan
from gnomon_board.schema import AuditRecord, Season
from gnomon_board.season_plan import SeasonPlan, secret_rng
from gnomon_board.seasons import create_season, reveal_season

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

FILE = """
name = "s1"
title = "Season 1"
division = "hidden"
episodes = 3
horizon = 40
closes = 2020-01-01

[hidden]
generate = 2
rules = ["mine.txt"]
rules_per_attempt = 2
elements = ["shape", "color"]
n_elements = [1, 1]
"""
MINE = "# my secret\n(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)\n"


@pytest.fixture(scope="module")
def plan(tmp_path_factory) -> SeasonPlan:
    folder = tmp_path_factory.mktemp("season")
    (folder / "mine.txt").write_text(MINE)
    (folder / "s1.toml").write_text(FILE)
    told: list[tuple[int, int]] = []
    found = SeasonPlan.from_toml(
        folder / "s1.toml", rng=np.random.default_rng(0), progress=lambda *n: told.append(n)
    )
    assert told == [(1, 2), (2, 2)], "drawing rules takes long, so its progress is shown"
    return found


def made(database, plan) -> Season:
    with database.writing() as session:
        create_season(session, plan)
    with database.reading() as session:
        season = session.scalar(select(Season).where(Season.name == plan.columns["name"]))
        assert season is not None
        assert season.rules
        return season


def test_a_file_is_read(plan):
    assert [rule.name for rule in plan.hidden_rules] == ["s1-h01", "s1-h02", "s1-h03"]
    wanted = {"trials": 1, "episodes": 3, "horizon": 40, "rules_per_attempt": 2}
    closes = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    assert (wanted | {"closes_at": closes}).items() <= plan.columns.items()
    assert sum(rule.text == MINE for rule in plan.hidden_rules) == 1


def test_the_place_of_a_rule_in_the_file_tells_nothing(monkeypatch):
    # Whether they are fit to be played takes long, and is of no consequence here.
    name = "gnomon_board.season_plan.reason_against"
    monkeypatch.setattr(name, lambda *rule, **where: None)
    texts = ["(shape:star, bucket:0) (shape:[square,circle,triangle], bucket:3)", "(bucket:p+1)"]
    own = [{"name": str(i), "text": t.replace("p+1", "[1,2]")} for i, t in enumerate(texts)]
    values = {"name": "s", "division": "hidden", "hidden": {"rules": own}}
    first: set[str] = set()
    for seed in range(8):
        plan = SeasonPlan.from_record(values, rng=np.random.default_rng(seed))
        first.add(plan.rules[0]["text"])
        if len(first) == 2:
            return
    pytest.fail("the rule that stands first in the file always comes first")


def test_it_is_committed_to_and_revealed(client, database, plan):
    season = made(database, plan)
    assert season.commitment
    assert season.salt
    assert len(season.salt) == 64
    assert made(database, replace(plan, columns={**plan.columns, "name": "s2"})).salt != season.salt
    with database.writing() as session:
        found = session.get_one(Season, season.id)
        reveal = reveal_season(session, found)
    assert reveal.computed == season.commitment
    assert reveal.commitment == season.commitment
    assert [rule.text for rule in reveal.rules] == [rule.text for rule in plan.hidden_rules]
    assert Reveal.from_record(client.get("/api/seasons/s1").json()) == reveal
    with database.reading() as session:
        found = session.get_one(Season, season.id)
        assert found.version == season.version + 1
        actions = session.scalars(select(AuditRecord.action)).all()
        assert actions == ["season made", "season made", "season revealed"]


def test_before_the_reveal_nothing_tells_a_hidden_rule(client, database, plan):
    season = made(database, plan)
    answer = client.get("/api/seasons/s1")
    told = answer.text
    assert season.commitment in told
    assert season.salt not in told
    for rule in plan.hidden_rules:
        assert json.dumps(rule.text)[1:-1] not in told
        assert canonical_text(rule.text) not in told
    hidden = [rule for rule in answer.json()["rules"] if rule["visibility"] == "hidden"]
    assert [(r["text"], r["family"], r["tags"]) for r in hidden] == [(None, "", [])] * 3
    with database.reading() as session:
        kept = session.scalars(select(AuditRecord)).all()
        assert all(season.salt not in json.dumps(record.detail) for record in kept)
        assert all("bucket" not in json.dumps(record.detail) for record in kept)
    with pytest.raises(LeaderboardError, match="has not been revealed"):
        Reveal.from_record(answer.json())


def test_an_open_season_is_not_revealed_by_mistake(database, plan):
    season = made(database, plan)
    with database.writing() as session:
        found = session.get_one(Season, season.id)
        found.closes_at = datetime.datetime(2999, 1, 1, tzinfo=datetime.UTC)
    with pytest.raises(NotAllowed, match="open until 2999"), database.writing() as session:
        reveal_season(session, session.get_one(Season, season.id))
    with database.writing() as session:
        found = session.get_one(Season, season.id)
        told = reveal_season(session, found, early=True)
        assert told.computed == told.commitment
        assert found.closes_at == found.revealed_at


def test_a_name_is_given_once(database, plan):
    made(database, plan)
    with pytest.raises(Conflict, match="there is a season 's1' already"):
        made(database, plan)


def test_a_season_without_hidden_rules_commits_to_nothing(database):
    values = {"name": "spring", "division": "replayed", "rules": ["clockwise", "color-match"]}
    plan = SeasonPlan.from_record(values, rng=np.random.default_rng(0))
    season = made(database, plan)
    assert season.commitment is season.salt is None
    assert (season.trials, season.episodes, season.horizon) == (20, 200, 100)
    with pytest.raises(NotAllowed, match="no hidden rules"), database.writing() as session:
        reveal_season(session, session.get_one(Season, season.id))


def test_a_suite_brings_its_boards():
    values = {"name": "core", "division": "replayed", "rules": ["gohr-core"]}
    plan = SeasonPlan.from_record(values, rng=np.random.default_rng(0))
    assert len(plan.rules) == 15
    assert plan.columns["board"]["pieces"] == [9, 9]


def test_secret_generators_differ():
    assert len({int(secret_rng().integers(2**62)) for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Season One"}, "field 'name': "),
        ({"division": "secret"}, "field 'division': "),
        ({"division": "replayed"}, "division 'replayed': expected no table [hidden]"),
        ({"hidden": None}, "division 'hidden': expected a table [hidden]"),
        ({"trials": 0}, "field 'trials': "),
        ({"trails": 3}, "field 'trails': "),
        ({"trials": 2}, "field 'trials': expected 1 in a hidden season, found 2"),
        ({"rules": ["clockwise"]}, "field 'rules': expected none in a hidden season"),
        ({"hidden": {"rules": ["clockwize"]}}, "unknown rule or file 'clockwize'"),
        (
            {"hidden": {"generate": 1, "rules_per_attempt": 2}},
            "field 'hidden.rules_per_attempt': expected at most 1",
        ),
        ({"hidden": {"generate": 0}}, "field 'hidden': expected 'generate' or 'rules'"),
        ({"hidden": {"generate": 1, "elements": ["luck"]}}, "unknown element 'luck'"),
        ({"hidden": {"rules": [{"name": "x", "text": "(*,*,*,*,*)"}]}}, "hidden rule 'x': an att"),
        ({"hidden": {"rules": [{"name": "x", "text": "(*,red,*,*,1)"}]}}, "hidden rule 'x': it c"),
        ({"opens": datetime.date(2020, 1, 1)}, "field 'closes': expected a moment after 2020"),
    ],
)
def test_what_is_no_season_is_refused(change, message):
    values = {
        "name": "s1",
        "division": "hidden",
        "closes": datetime.date(2020, 1, 1),
        "hidden": {"generate": 1},
    } | change
    with pytest.raises(GnomonError) as error:
        SeasonPlan.from_record(values, rng=np.random.default_rng(0))
    assert str(error.value).startswith(message)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "s.toml"
    with pytest.raises(GnomonError, match="cannot read this"):
        SeasonPlan.from_toml(path, rng=np.random.default_rng(0))
    path.write_text("name = ")
    with pytest.raises(GnomonError, match="not a TOML file"):
        SeasonPlan.from_toml(path, rng=np.random.default_rng(0))
    path.write_text('name = "s"')
    with pytest.raises(GnomonError) as error:
        SeasonPlan.from_toml(path, rng=np.random.default_rng(0))
    assert str(error.value).startswith(f"{path}: field 'division'")


def block_of_the_page(name: str) -> str:
    """Return a file that docs/board/hidden-seasons.md shows."""
    page = (Path(__file__).parents[4] / "docs" / "board" / "hidden-seasons.md").read_text("utf-8")
    found = re.search(rf"<!-- file: {name} -->\n\n```toml\n(.*?)```", page, re.DOTALL)
    assert found
    return found[1]


def test_the_files_of_the_page_are_read(tmp_path):
    (tmp_path / "mine.txt").write_text(MINE)
    season = tmp_path / "s1.toml"
    season.write_text(
        block_of_the_page("s1.toml").replace("= 120 ", "= 1 ").replace("= 30 ", "= 1 ")
    )
    plan = SeasonPlan.from_toml(season, rng=np.random.default_rng(1))
    assert len(plan.hidden_rules) == 2
    assert plan.columns["opens_at"] == datetime.datetime(2027, 1, 1, tzinfo=datetime.UTC)
    (tmp_path / "plan.toml").write_text(block_of_the_page("plan.toml"))
    assert RemotePlan.from_toml(tmp_path / "plan.toml").learner_entry().params == {
        "learning_rate": 0.03
    }


def test_every_knob_has_its_row_on_the_page():
    page = (Path(__file__).parents[4] / "docs" / "board" / "hidden-seasons.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", page, re.MULTILINE))
    knobs = asdict(Difficulty())
    assert set(rows) == {"generate", "rules", "rules_per_attempt", *knobs}
    for name in ("n_elements", "n_buckets", "chance"):
        assert str(list(knobs[name])) in rows[name]
    assert all(f"`{element}`" in page for element in ELEMENTS)


def test_seeds_cannot_be_chosen():
    secret = bytes(range(32))
    seeds = {
        assigned_seed(secret, season, entry, attempt)
        for season in ("s1", "s2")
        for entry in (1, 2, 11)
        for attempt in (1, 2, 11)
    }
    assert len(seeds) == 18
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert assigned_seed(secret, "s1", 1, 1) == assigned_seed(secret, "s1", 1, 1)
    assert assigned_seed(bytes(32), "s1", 1, 1) not in seeds
