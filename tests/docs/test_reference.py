"""What can be named has its place in the docs: options, fields, metrics, learners."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import typer

import gnomon as gn
import gnomon.cli
import gnomon_board.cli
import gohr.cli
from gnomon.stats import metric_named, summarize_runs
from gohr import outcomes, play
from gohr.experiments import METRICS as SCORES
from gohr.experiments import available_suites, load_suite
from gohr.experiments.attempts import attempt_columns
from gohr.learners import available_learners, learner_kinds, make_learner
from gohr.rules import FAMILIES, TAGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def section(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next of its level or a higher one."""
    text = (DOCS / page).read_text("utf-8")
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, flags=re.MULTILINE)
    assert found, f"{page}: expected a heading {heading!r}"
    rest = text[found.end() :]
    after = re.search(rf"^#{{1,{len(found[1])}}} ", rest, flags=re.MULTILINE)
    return rest[: after.start()] if after else rest


def rows(text: str) -> dict[str, str]:
    """Return the rows of the tables in a text, by each code word of their first cell."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        first = re.match(r"\| ([^|]*) \|", line)
        for name in re.findall(r"`([^`]+)`", first[1]) if first else []:
            found[name] = line
    return found


def verbs() -> dict[str, set[str]]:
    """Return the options of every verb of the three commands, by how one types it."""
    found: dict[str, set[str]] = {}
    stack = [
        (command.name, typer.main.get_command(command.application()))
        for command in (gnomon.cli.COMMAND, gohr.cli.COMMAND, gnomon_board.cli.COMMAND)
    ]
    while stack:
        name, command = stack.pop()
        inner = getattr(command, "commands", {})
        stack += [(f"{name} {verb}", one) for verb, one in inner.items()]
        named = {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
        found[name] = named | {"--help", "-h", "--version"}
    return found


def test_pages_name_verbs_and_options_that_are_there():
    known, wrong = verbs(), []
    pages = [ROOT / "README.md", *ROOT.glob("packages/*/README.md"), ROOT / "CONTRIBUTING.md"]
    called = re.compile(
        r"(?:`|^(?:\$ )?|&& )((?:gnomon|gohr|gnomon-board) [a-z-]+[^`|#>&\n]*)", re.M
    )
    for page in [*pages, *sorted(DOCS.rglob("*.md"))]:
        for said in called.findall(
            re.sub(r"(`[^`\n]*)\n *(?=[^`\n]*`)", r"\1 ", page.read_text("utf-8"))
        ):
            words = said.split()
            verb = " ".join(words[:3]) if " ".join(words[:3]) in known else " ".join(words[:2])
            options = {word.partition("=")[0].rstrip(",.;:") for word in words if word[:2] == "--"}
            if verb not in known or not options <= known[verb]:
                wrong.append(f"{page.relative_to(ROOT)}: {said}")
    assert not wrong, "\n".join(wrong)


def known(call: Callable[[], object]) -> set[str]:
    """Return the words that the error of a call with an unknown one lists."""
    with pytest.raises((gn.errors.UnknownNameError, ValueError), match="nothing") as raised:
        call()
    text = str(raised.value)
    listed = text.partition("known: ")[2]
    return set(listed.split(", ") if listed else re.findall(r"'(\w+)'", text)) - {"nothing"}


def test_every_field_of_an_experiment_is_documented():
    documented = rows(section("gohr/experiments.md", "Fields"))
    smallest = gohr.ExperimentConfig("small", ["clockwise"], ["uniform"])
    names = {*type(smallest).model_fields} - {"recorded"}
    assert names == set(documented)
    for name in names:
        if isinstance(default := getattr(smallest, name), int):
            assert f"| {default} |" in documented[name], name
    board = rows(section("gohr/game.md", "The board"))
    assert {field.name for field in fields(gohr.BoardSpec)} <= set(board)


def test_every_suite_is_documented():
    documented = rows(section("gohr/experiments.md", "Suites"))
    newest = {s.name: load_suite(s.name) for s in map(load_suite, available_suites())}
    assert set(documented) == set(newest)
    for name, suite in newest.items():
        assert f"| {len(suite.rules)}" in documented[name]


def test_every_score_of_a_run_is_documented():
    documented = rows(section("gohr/experiments.md", "Scores of a run"))
    for name, score in SCORES.items():
        direction = "higher" if score.higher_is_better else "lower"
        description = rf"\| {score.unit} \| {direction} \| [A-Z0-9][^|]+\. \|$"
        assert re.search(description, documented[name].strip()), name
        assert ("One score per episode." in documented[name]) is score.per_episode, name


def test_every_column_of_the_attempts_is_documented():
    draws = np.random.default_rng(0)
    boards = gohr.draw_boards(1, rng=draws)
    learner = make_learner("uniform", gohr.BoardSpec(), rng=draws)
    log = play(boards, learner, gohr.load_rule("clockwise"))
    columns = list(attempt_columns({("uniform", "clockwise", 0): log}))
    assert set(columns[3:]) <= set(rows(section("gohr/experiments.md", "The run folder")))


@pytest.mark.parametrize("kind", available_learners())
def test_every_learner_has_its_settings_and_defaults(kind):
    text = section("gohr/learners.md", f"`{kind}`")
    documented = rows(text)
    settings = learner_kinds(kind)[0].settings
    for field in settings:
        name, default = field.name, json.dumps(field.default)
        assert re.search(rf"\| `?{re.escape(default)}`? \|", documented.get(name, "")), name
        for choice in field.choices:
            assert f'`"{choice}"`' in text
    assert set(documented) == {field.name for field in settings}


def test_every_statistical_metric_and_method_is_documented():
    summaries = {
        name.partition(":")[0] for name in rows(section("gnomon/statistics.md", "Estimates"))
    }
    assert known(lambda: metric_named("nothing")) == summaries
    scores = gn.ScoreTable.from_arrays({"a": np.ones((3, 2))})
    methods = set(rows(section("gnomon/statistics.md", "Intervals")))
    assert methods == known(lambda: gn.estimate(scores, method="nothing"))
    text = section("gnomon/statistics.md", "Intervals")
    for word in known(lambda: gn.estimate(scores, resampling="nothing")):
        assert f'"{word}"' in text
    steps = gn.ScoreTable.from_arrays({"a": np.ones((3, 2, 4))}, steps=range(4))
    curves = set(rows(section("gnomon/statistics.md", "Curves")))
    assert curves == known(lambda: summarize_runs(steps, "nothing"))


def test_families_tags_and_environments_are_documented():
    families = rows(section("gohr/game.md", "Rules of the library"))
    assert {name: f"| `{name}` | {text} |" for name, text in FAMILIES.items()} == families
    tags = rows(section("gohr/game.md", "Tags"))
    assert {name: f"| `{name}` | {text} |" for name, text in TAGS.items()} == tags
    ids = {name for name in gymnasium.registry if name.startswith("gohr/")}
    assert ids == set(rows(section("gohr/game.md", "The environments"))) & ids


def test_every_outcome_is_documented():
    names = ("ACCEPTED", "DENIED", "IMMOVABLE", "EMPTY_CELL", "NEW_BOARD", "EPISODE_OVER")
    text = section("gohr/game.md", "Outcomes")
    assert all(f"| {getattr(outcomes, name)} | `{name}` |" in text for name in names)
