"""Suites: what is in them, that they stay what they are, and their use in experiments."""

from __future__ import annotations

import tomllib
from importlib import resources

import pytest

from gnomon.errors import UnknownNameError
from gohr import equivalent
from gohr.errors import ConfigError
from gohr.experiments import ExperimentConfig, available_suites, load_experiment, load_suite
from gohr.rules import FAMILIES, available_rules, load_rule, parse, rule_info
from recorded_episodes import VECTORS, records

FILES = sorted(
    path
    for path in (resources.files("gohr.experiments") / "library" / "suites").iterdir()
    if path.name.endswith(".toml")
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_version_of_a_suite_never_changes(path):
    """A rule that now means something else needs a new version of the suites that it is in."""
    record = tomllib.loads(path.read_text("utf-8"))
    suite = load_suite(f"{record['name']}-v{record['version']}")
    assert path.name == f"{suite.full_name}.toml"
    assert suite.hash == record["hash"]
    assert len(set(suite.rules)) == len(suite.rules)


def test_what_is_in_them():
    assert len(load_suite("gohr-paper").rules) == 4
    core, full = load_suite("gohr-core"), load_suite("gohr-full")
    assert len(core.rules) == 15
    assert {rule_info(name).family for name in core.rules} == set(FAMILIES)
    assert len(full.rules) >= 60
    assert set(core.rules) <= set(full.rules) <= set(available_rules())
    with pytest.raises(UnknownNameError, match=r"^unknown suite 'gohr-cor'; did you mean"):
        load_suite("gohr-cor")


def test_benchmark_rules_accept_what_the_recorded_ones_accept():
    """Fourteen rules of the reference's leaderboard against its recorded texts, on all boards."""
    texts = {}
    for name in ("rules_paper", "rules_extended"):
        path = VECTORS / f"{name}.jsonl.gz"
        if not path.is_file():
            pytest.skip("the recorded rules are not in the repository")
        for record in records(path):
            folder, _, file = record["rule_file"].rpartition("/")
            if folder in ("rules/MLC", "rules/MLC/BMK", "rules/pk"):
                texts.setdefault(file.removesuffix(".txt"), record["rule_text"])
    suite = load_suite("gohr-benchmark")
    for entry in suite.entries[:14]:
        theirs = parse(texts[entry.name])
        assert equivalent(entry.rule_set, theirs, suite.board, n_boards=500), entry.name
    assert suite.entries[14].rule_set == load_rule("color-match")
    assert len(ExperimentConfig("x", ["gohr-benchmark"], ["uniform"]).rules) == 15


def test_suites_are_named_where_rules_are():
    config = ExperimentConfig("x", ["gohr-paper", "nearby", "gohr-core-v1"], ["uniform"])
    names = [rule.name for rule in config.rules]
    # What several name is there once, where it was named first.
    assert names[:5] == [*load_suite("gohr-paper").rules, "nearby"]
    assert sorted(names) == sorted(load_suite("gohr-core").rules)
    assert {load_suite(name).board for name in available_suites()} == {config.board}
    by_file = load_experiment("gohr-paper", learners=["uniform"], trials=7)
    assert (by_file.name, by_file.n_trials) == ("gohr-paper", 28)
    with pytest.raises(ConfigError, match="expected different names, found 'nearby' twice"):
        ExperimentConfig("x", ["nearby", "nearby"], ["uniform"])


def test_a_suite_by_itself_needs_learners():
    with pytest.raises(ConfigError, match="'gohr-core' names no learners"):
        load_experiment("gohr-core")
    assert available_suites() == tuple(sorted(available_suites()))
