"""Held-out variants: drawn by seed, new, of the family of their rule, and playable."""

from __future__ import annotations

import numpy as np
import pytest

import gohr
from gohr import BoardSpec, equivalent
from gohr.errors import ConfigError
from gohr.experiments import load_experiment, load_suite
from gohr.rules import available_rules, draw_rule, draw_rules, load_rule

SUITE = load_suite("gohr-induction")


@pytest.fixture(scope="module")
def variants():
    config = load_experiment("gohr-induction@1", learners=["uniform"])
    return config.rules


def test_the_same_seed_draws_the_same_variants_and_another_seed_others(variants):
    assert [rule.name for rule in variants] == [f"{name}@1" for name in SUITE.rules]
    others = load_experiment("gohr-induction@2", learners=["uniform"]).rules
    n_same = sum(a.hash == b.hash for a, b in zip(variants, others, strict=True))
    assert n_same < 8


def test_no_variant_is_a_rule_of_the_library_or_another_variant(variants):
    library = [load_rule(name) for name in available_rules()]
    few = BoardSpec(pieces=4, shapes=0, colors=0)
    for k in (0, 5, 11, 14, 15, 21):
        variant = variants[k]
        assert not any(equivalent(variant.rule_set, rule, few) for rule in library), variant.name
    assert len({variant.hash for variant in variants}) == 24


def test_the_published_rule_is_of_the_family_or_as_near_as_the_family_comes():
    """Of the rungs of one bucket a piece, the template makes the published rule itself."""
    for rung in ("feature", "position", "alternation", "exception"):
        for name in set(SUITE.rungs[rung]) - {"clockwise", "red-and-star"}:
            made = draw_rules(SUITE.rungs[rung][name].strip(), name=name)
            published = load_rule(name)
            assert any(equivalent(gohr.parse(rule.text), published) for rule in made), name


def test_variants_are_named_where_rules_are(variants):
    both = gohr.ExperimentConfig("x", ["gohr-induction", "gohr-induction@1"], ["uniform"])
    assert both.rules[24:] == variants
    assert both.board == SUITE.board
    with pytest.raises(ConfigError, match="'gohr-induction@x': expected a seed, a whole number"):
        gohr.ExperimentConfig("x", ["gohr-induction@x"], ["uniform"])
    with pytest.raises(ConfigError, match="'gohr-core' has no held-out variants"):
        gohr.ExperimentConfig("x", ["gohr-core@1"], ["uniform"])


def test_draws_of_a_template_are_those_it_generates_and_all_of_them():
    template = "# vary a: 0..2\n# vary b: 0..2\n# distinct: a, b\n(*,*,*,*,[{a},{b}])"
    rng = np.random.default_rng(0)
    drawn = {draw_rule(template, rng=rng).text for _ in range(200)}
    assert drawn == {rule.text for rule in draw_rules(template)}
