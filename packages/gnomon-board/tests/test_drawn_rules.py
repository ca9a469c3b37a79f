"""Hidden rules: each can be played, is neither trivial nor a dead end, and is new."""

from __future__ import annotations

import numpy as np
import pytest

from gnomon_board.drawn_rules import (
    ELEMENTS,
    Difficulty,
    chance_at_random,
    generate_rules,
    reason_against,
)
from gnomon_board.errors import LeaderboardError
from gohr import BoardSpec, compile_rule, draw_boards, equivalent, find_stalemate, play
from gohr.learners import LinearDQN, RulePlayer, Uniform
from gohr.rules import available_rules, lint, load_rule, parse

SPEC = BoardSpec()


@pytest.fixture(scope="module")
def rules():
    return generate_rules(6, Difficulty(n_elements=(1, 3)), rng=np.random.default_rng(7))


def test_each_compiles_and_has_no_lint(rules):
    for rule in rules:
        compile_rule(parse(rule.text), SPEC)
        assert not lint(parse(rule.text)), rule.text


@pytest.mark.full  # the generator looks for stalemates too
def test_none_can_get_stuck_by_a_search_of_our_own(rules):
    for rule in rules:
        found = find_stalemate(parse(rule.text), max_states=500, rng=np.random.default_rng(99))
        assert found.board is None, rule.text


def test_who_knows_it_clears_every_board_and_chance_errs(rules):
    boards = draw_boards(50, rng=np.random.default_rng(31))
    for rule in rules:
        knows = play(boards, RulePlayer(rng=np.random.default_rng(1)), parse(rule.text))
        assert set(knows.finish.tolist()) == {1}
        assert set(knows.n_attempts.tolist()) == {9}
        guesses = play(boards, Uniform(rng=np.random.default_rng(1)), parse(rule.text))
        accepted = np.mean(guesses.outcomes == 0)
        assert 0.02 < accepted < 0.7
        chance = chance_at_random(parse(rule.text), BoardSpec(), 100)
        assert abs(accepted - chance) < 0.05
        assert 0.03 <= chance <= 0.6


@pytest.mark.full
def test_none_is_in_the_library_and_no_two_are_the_same(rules):
    library = [load_rule(name) for name in available_rules()]
    for n, rule in enumerate(rules):
        for other in (*library, *(parse(each.text) for each in rules[:n])):
            assert not equivalent(parse(rule.text), other, n_boards=50), rule.text


def test_the_same_generator_gives_the_same_rules():
    easy = Difficulty(elements=("shape", "color", "order"), n_elements=(1, 2))
    first = generate_rules(2, easy, rng=np.random.default_rng(5))
    np.random.seed(0)  # noqa: NPY002 - the global state must have no effect
    again = generate_rules(2, easy, rng=np.random.default_rng(5))
    other = generate_rules(2, easy, rng=np.random.default_rng(6))
    assert first == again != other


@pytest.mark.full  # that no two are the same is told above
def test_rules_that_are_known_are_not_drawn_again():
    narrow = Difficulty(elements=("memory",), n_elements=(1, 1), n_buckets=(2, 2))
    first = generate_rules(2, narrow, rng=np.random.default_rng(5))
    again = generate_rules(
        2, narrow, not_like=[parse(rule.text) for rule in first], rng=np.random.default_rng(5)
    )
    assert not {rule.text for rule in first} & {rule.text for rule in again}


def test_an_easy_one_can_be_learned():
    """A learner errs much less at the end of a trial than at its beginning."""
    easy = Difficulty(elements=("shape", "color"), n_elements=(1, 1), n_buckets=(1, 1))
    (rule,) = generate_rules(1, easy, rng=np.random.default_rng(4))
    boards = draw_boards(300, rng=np.random.default_rng(2))
    log = play(boards, LinearDQN(rng=np.random.default_rng(2)), parse(rule.text))
    assert log.n_attempts[-50:].mean() < 12
    assert log.n_attempts[:10].mean() > 20


def test_the_knobs_do_what_they_say():
    for low, high in [(1, 1), (3, 3)]:
        knobs = Difficulty(n_elements=(low, high))
        drawn = generate_rules(2, knobs, rng=np.random.default_rng(8))
        assert {len(rule.elements) for rule in drawn} == {low}
    rare = Difficulty(chance=(0.03, 0.1))
    for rule in generate_rules(2, rare, rng=_rng()):
        assert 0.03 <= chance_at_random(parse(rule.text), BoardSpec(), 100) <= 0.1
    only = Difficulty(elements=("order", "place"))
    with pytest.raises(LeaderboardError, match=r"expected 3 rules .*, found 0 in 600 drafts"):
        generate_rules(3, Difficulty(elements=("order",), n_elements=(2, 2)), rng=_rng())
    assert {e for r in generate_rules(3, only, rng=_rng()) for e in r.elements} <= {
        "order",
        "place",
    }


def test_every_element_is_drawn(rules):
    more = generate_rules(9, rng=_rng())
    assert {e for rule in (*rules, *more) for e in rule.elements} == set(ELEMENTS)


def _rng() -> np.random.Generator:
    return np.random.default_rng(12)


def test_other_palettes():
    spec = BoardSpec(
        pieces=(3, 5), shapes=0, colors=0, shape_palette=("moon", "a-b"), color_palette=("red",)
    )
    knobs = Difficulty(elements=("shape", "place"), n_elements=(1, 2))
    for rule in generate_rules(2, knobs, board_spec=spec, rng=_rng()):
        assert reason_against(parse(rule.text), knobs, board_spec=spec) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(*,*,*,*,*)", "accepted with probability 1.000"),
        ("(*,red,*,*,1)", "it can get stuck"),
        ("(0,*,*,*,1)", "it can get stuck"),
        ("(pos:L1, shape:square, bucket:1)", "it can get stuck"),
    ],
)
def test_what_is_not_fit(text, reason):
    assert reason in str(reason_against(parse(text), Difficulty()))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("elements", ("shapes",), "unknown element 'shapes'; did you mean 'shape'"),
        ("n_elements", (2, 1), "field 'n_elements': expected a range within 1 to 4, found [2, 1]"),
        ("n_buckets", (1, 4), "field 'n_buckets': expected a range within 1 to 3"),
        ("chance", (0.0, 0.5), "field 'chance': expected a range within 0.001 to 0.999"),
        ("chance", (float("nan"), 0.5), "field 'chance'"),
    ],
)
def test_knobs_out_of_range(field, value, message):
    with pytest.raises(LeaderboardError) as error:
        Difficulty(**{field: value})
    assert message in str(error.value)
