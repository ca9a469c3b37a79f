"""What can be named has its place in the docs: verbs, options, fields, metrics, learners."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import gymnasium
import numpy as np
import pytest
import typer

import gohr
from gnomon import plot as figures
from gnomon.cli import app, main
from gnomon.distillation import SubsetModel
from gnomon.scores import ScoreTable, write_scores
from gnomon.stats import estimates as estimate
from gnomon.stats import metrics
from gnomon.stats.learning_curves import curves_by_step as curves
from gohr.experiments import METRICS as SCORES
from gohr.experiments import available_suites, load_suite
from gohr.experiments.attempts import frame_of
from gohr.experiments.config.config_fields import BoardFields, ExperimentFields
from gohr.game import compile_rule, outcomes
from gohr.learners import available_learners, learner_fields, make_learner, play_trial
from gohr.rules import FAMILIES, TAGS, available_rules, load_rule

DOCS = Path(__file__).parents[2] / "docs"


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


def commands() -> Iterator[tuple[str, object]]:
    """Yield every verb as one types it, with the command behind it."""
    stack = [("gnomon", typer.main.get_command(app))]
    while stack:
        name, command = stack.pop()
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            stack += [(f"{name} {verb}", one) for verb, one in inner.items()]


COMMANDS = dict(commands())


def options_of(verb: str) -> dict[str, str]:
    """Return the rows of a verb's options: its own, and those that it says it shares."""
    text = section("command-line.md", verb)
    line = re.search(r"^Shared: (.*?)\.\n\n", text, flags=re.MULTILINE | re.DOTALL)
    names = re.findall(r"`([^`]+)`", line[1]) if line else []
    shared = rows(section("command-line.md", "Shared options"))
    return rows(text) | {name: shared[name] for name in names}


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_has_its_options_and_defaults(verb):
    documented = options_of(verb)
    taken = set()
    for parameter in COMMANDS[verb].params:
        for option in [*parameter.opts, *parameter.secondary_opts]:
            assert option in documented, f"{verb}: {option} is not in docs/command-line.md"
            taken.add(option)
            if isinstance(parameter.default, str | int | float | Path) and (
                not isinstance(parameter.default, bool)
            ):
                assert str(parameter.default) in documented[option], f"{verb} {option}"
    assert set(documented) <= taken, f"{verb}: documented, but not there"


def test_no_verb_is_documented_that_is_not_there():
    text = (DOCS / "command-line.md").read_text("utf-8")
    assert set(re.findall(r"^## (gnomon .*)$", text, flags=re.MULTILINE)) == set(COMMANDS)


@pytest.fixture
def answer(monkeypatch, capsys):
    """Return the records that a verb prints with --json."""

    def call(command: str) -> list[dict[str, object]]:
        monkeypatch.setattr(sys, "argv", [*shlex.split(command), "--json"])
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        assert said.out, f"{command}: {said.err}"
        results: list[dict[str, object]] = json.loads(said.out)["results"]
        return results

    return call


def documented_records(verb: str) -> list[list[str]]:
    """Return the fields of each kind of record that the page names."""
    below = section("command-line.md", verb)
    text = below[below.index("Records: ") :].partition("\n\n")[0]
    spans = re.findall(r"`([^`]+)`", text)
    return [
        re.split(r",\s+", span) for span in spans if "," in span or span in ("path", "markdown")
    ]


#: Verb -> what to call it with, for each kind of record that the page names, in that order.
CALLS = {
    "gohr run": ["small.toml --out run", "small.toml --out run --dry-run"],
    "gohr status": ["run"],
    "gohr verify": ["run"],
    "gohr score": ["run"],
    "gnomon estimate": ["run --resamples 20"],
    "gnomon compare": [
        "scores.csv a b",
        "scores.csv a b --metric mean --equivalence 1",
        "scores.csv --metric mean --fail-if 'c worse than b'",
    ],
    "gnomon profile": ["scores.csv"],
    "gnomon curves": ["steps.csv"],
    "gnomon plan": [
        "scores.csv a b --runs 3 --simulations 20",
        "scores.csv --way widths --simulations 20",
        "scores.csv a b --way sequential --runs 2 --runs 4",
    ],
    "gnomon rank": ["scores.csv"],
    "gnomon critical-difference": ["scores.csv"],
    "gnomon audit": ["scores.csv --resamples 20"],
    "gnomon distill": ["scores.csv --size 2 --folds 3", "scores.csv --next new"],
    "gnomon predict": ["model.json scores.csv"],
    "gnomon report": ["run", "scores.csv --markdown"],
    "gohr learners": [""],
    "gohr rules list": [""],
    "gohr rules show": ["clockwise"],
    "gohr rules check": ["wrong.txt"],
    "gohr rules generate": ["step", ""],
}

#: Verbs that are not called here, and why.
NOT_CALLED = {
    "gohr demo": "its own test runs it, and a minute is enough",
    "gnomon-board season new": "packages/gnomon-board/tests/cli/test_season.py has its records",
    "gnomon-board season reveal": "packages/gnomon-board/tests/cli/test_season.py has its records",
    "gnomon-board check-reveal": "packages/gnomon-board/tests/cli/test_season.py has its records",
    "gnomon-board study new": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study check": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study links": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study list": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study export": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study invite": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board study close": "packages/gnomon-board/tests/cli/test_study.py has its records",
    "gnomon-board serve": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board register": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board submit": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board token": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board migrate": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board backup": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gnomon-board restore": "packages/gnomon-board/tests/web/test_server.py has its records",
    "gohr play": "reads what a person types; packages/gnomon-board/tests/studies has its records",
}


@pytest.fixture
def examples(monkeypatch, tmp_path):
    """Write the files that the calls name into an empty folder."""
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(
        'name = "small"\nrules = ["clockwise"]\nlearners = ["uniform"]\ntrials = 3\nepisodes = 4\n'
    )
    Path("wrong.txt").write_text("(1,*\n")
    draws = np.random.default_rng(0)
    skills = dict(zip("abcdefghijkl", draws.uniform(1, 3, 12), strict=True))
    scores = {a: s + draws.normal(0, 0.3, (5, 6)) for a, s in skills.items()}
    write_scores(ScoreTable.from_arrays(scores), "scores.csv")
    SubsetModel(("task_1",), (1.0,), transform="identity").save("model.json")
    prices = "".join(f"task_{i},{i + 1}\n" for i in range(6))
    Path("costs.csv").write_text(f"task,cost\n{prices}")
    curves = {a: draws.normal(0, 1, (4, 3, 5)).cumsum(axis=2) for a in "ab"}
    write_scores(ScoreTable.from_arrays(curves, steps=range(5)), "steps.csv")


def test_records_have_the_fields_that_the_page_names(examples, answer):
    for verb, arguments in CALLS.items():
        kinds = documented_records(verb)
        assert len(kinds) >= len(arguments), verb
        for argument, kind in zip(arguments, kinds, strict=False):
            assert list(answer(f"{verb} {argument}")[0]) == kind, f"{verb} {argument}"


def test_the_records_of_every_verb_are_tried():
    with_json = {v for v, c in COMMANDS.items() if any("--json" in p.opts for p in c.params)}
    assert with_json == {*CALLS, *NOT_CALLED}


def test_every_field_of_an_experiment_is_documented():
    documented = rows(section("experiments.md", "Fields"))
    for name, field in ExperimentFields.model_fields.items():
        assert name in documented
        if isinstance(field.default, int):
            assert f"| {field.default} |" in documented[name], name
    board = rows(section("game.md", "The board"))
    board |= rows(section("experiments.md", "Boards of your own"))
    assert set(BoardFields.model_fields) <= set(board)


def test_every_suite_is_documented():
    documented = rows(section("experiments.md", "Suites"))
    newest = {s.name: load_suite(s.name) for s in map(load_suite, available_suites())}
    assert set(documented) == set(newest)
    for name, suite in newest.items():
        assert f"| {len(suite.rules)}" in documented[name]


@pytest.mark.parametrize("name", available_rules())
def test_every_rule_of_the_catalogue_is_played_by_the_engine(name):
    compile_rule(load_rule(name))  # as docs/decisions/003 says


def test_every_score_of_a_run_is_documented():
    documented = rows(section("experiments.md", "Scores of a run"))
    for name, score in SCORES.items():
        direction = "higher" if score.higher_is_better else "lower"
        assert f"| {score.unit} | {direction} | {score.sentence}" in documented[name]


def test_every_column_of_the_attempts_is_documented():
    draws = np.random.default_rng(0)
    boards = gohr.draw_boards(1, rng=draws)
    learner = make_learner("uniform", gohr.BoardSpec(), rng=draws)
    log = play_trial(learner, gohr.load_rule("clockwise"), boards)
    assert set(frame_of(log).columns) <= set(rows(section("experiments.md", "The run folder")))


@pytest.mark.parametrize("kind", available_learners())
def test_every_learner_has_its_settings_and_defaults(kind):
    text = section("learners.md", f"`{kind}`")
    documented = rows(text)
    for name, field in learner_fields(kind).items():
        default = json.dumps(field.default)
        assert re.search(rf"\| `?{re.escape(default)}`? \|", documented.get(name, "")), name
        for choice in field.choices:
            assert f'`"{choice}"`' in text
    assert set(documented) == set(learner_fields(kind))


def test_every_statistical_metric_and_method_is_documented():
    summaries = {name.partition(":")[0] for name in rows(section("statistics.md", "Estimates"))}
    assert set(metrics.NAMES) == summaries
    methods = rows(section("statistics.md", "Intervals"))
    assert set(methods) == {*get_args(estimate.Method), *get_args(estimate.Resampling)}
    assert set(rows(section("statistics.md", "Curves"))) == set(get_args(curves.CurveSummary))


def test_families_tags_and_environments_are_documented():
    families = rows(section("game.md", "The catalogue"))
    assert {name: f"| `{name}` | {text} |" for name, text in FAMILIES.items()} == families
    tags = rows(section("game.md", "Which tags there are"))
    assert {name: f"| `{name}` | {text} |" for name, text in TAGS.items()} == tags
    ids = {name for name in gymnasium.registry if name.startswith("gnomon/")}
    assert ids == set(rows(section("game.md", "The environments"))) & ids


def test_every_outcome_is_documented():
    names = ("ACCEPTED", "DENIED", "IMMOVABLE", "EMPTY_CELL", "NEW_BOARD", "EPISODE_OVER")
    text = section("game.md", "Outcomes")
    assert all(f"| {getattr(outcomes, name)} | `{name}` |" in text for name in names)


def test_every_figure_is_in_the_gallery():
    text = (DOCS / "gallery.md").read_text("utf-8")
    drawing = [
        name
        for name in figures.__all__
        if name[0].islower() and not name.endswith("_rows") and name != "box_of"
    ]
    assert [name for name in drawing if f"`{name}`" not in text] == []
