"""The JAX environment plays as the engine does, and as the reference interpreter does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from gohr import Board, BoardSpec, ReferenceGame, draw_boards
from gohr import jax as gjax
from gohr.errors import RuleError, RuleSyntaxError
from gohr.rules import RuleSet, available_rules, load_rule, parse
from jax_replay import SPECS, attempts, masks, replay, some_actions, states_on
from recorded_episodes import VECTORS, records
from strategies_rules import order_rule_sets, paper_rule_sets, rule_sets

NAMES = sorted(available_rules())
RULES = [*map(load_rule, NAMES)]
#: `make replay` plays ten times as many: a million attempts beside the engine, 100,000 beside the
#: reference interpreter.
REPLAY = int(os.environ.get("GNOMON_REPLAY", "1"))


@pytest.mark.full
def test_all_shipped_rules_in_one_bank_play_as_the_engine_plays_them():
    rng = np.random.default_rng(0)
    met = replay(RULES, SPECS[0], per_rule=4, n_steps=30, horizon=25, rng=rng)
    assert {-4, 0, 3, 4, 7} <= set(met)


@pytest.mark.full
@pytest.mark.parametrize("spec", SPECS, ids=["paper", "ranges", "full boards"])
def test_many_attempts_of_the_shipped_rules_in_three_kinds_of_boards(spec: BoardSpec):
    rng = np.random.default_rng(1)
    met: Counter = Counter()
    while sum(met[code] for code in (0, 3, 4, 7)) < 34_000 * REPLAY:
        n_steps = 60 if spec.pieces[0] == 36 else 22
        met += replay(RULES, spec, per_rule=32, n_steps=n_steps, horizon=50, rng=rng)
    print(f"beside the engine: {dict(met)}")
    assert min(met[code] for code in (-4, 0, 3, 4, 7)) > 100 * REPLAY
    assert met["stalemates"] > REPLAY


def reference_mask(game: ReferenceGame) -> np.ndarray:
    """The attempts that the reference interpreter would accept, int8 of shape (144,)."""
    pos_of = {piece.id: piece.pos for piece in game.pieces}
    mask = np.zeros(144, np.int8)
    for piece, bucket in game.legal_moves() if game.finish == 0 else ():
        mask[4 * (pos_of[piece] - 1) + bucket] = 1
    return mask


def replay_by_reference(spec: BoardSpec, per_rule: int, n_steps: int, seed: int) -> int:
    """Play shipped rules on the reference interpreter beside; return how many attempts counted."""
    rng = np.random.default_rng(seed)
    env, params = gjax.make(NAMES, board=spec)
    rows = np.repeat(np.arange(len(NAMES)), per_rule)
    boards = draw_boards(len(rows), spec, rng=rng)
    states = states_on(env, params, rows, boards)
    games = [
        ReferenceGame(RULES[row], Board.from_codes(board, spec))
        for row, board in zip(rows, boards, strict=True)
    ]
    counted = 0
    for _ in range(n_steps):
        legal, there = map(np.asarray, masks(env, states))
        actions = some_actions(legal, there, rng)
        finish = np.asarray(states.finish)
        states, outcomes = attempts(env, params.rules, states, actions, 1000)
        outcome, after = np.asarray(outcomes), np.asarray(states.finish)
        for i, game in enumerate(games):
            assert (reference_mask(game) == legal[i]).all(), NAMES[rows[i]]
            assert game.finish == finish[i]
            code = game.attempt_at(1 + int(actions[i]) // 4, int(actions[i]) % 4)
            assert (code, game.finish) == (outcome[i], after[i]), NAMES[rows[i]]
            counted += code != -4
    return counted


def test_shipped_rules_play_as_the_reference_interpreter_plays_them():
    # The same number of boards as above, so that nothing is compiled anew.
    assert replay_by_reference(SPECS[0], 4, 6, 2) > 1_500


@pytest.mark.full
@pytest.mark.parametrize("spec", SPECS[1:], ids=["ranges", "full boards"])
def test_fewer_by_the_reference_interpreter(spec: BoardSpec):
    counted, seed = 0, 3
    while counted < 5_000 * REPLAY:
        # Full boards take the interpreter ten times as long.
        n_steps = 4 * (1 + REPLAY) if spec.pieces[0] == 36 else 22
        counted += replay_by_reference(spec, 4, n_steps, seed)
        seed += 1
    print(f"beside the reference interpreter: {counted:,} attempts")


def sample(strategy: SearchStrategy[RuleSet], n: int) -> list[RuleSet]:
    """Return rules that Hypothesis generates, always the same, as far as they can be played."""
    found: list[RuleSet] = []
    options = {"database": None, "derandomize": True, "phases": [Phase.generate]}
    options["suppress_health_check"] = [HealthCheck.too_slow]  # on a busy machine

    @settings(max_examples=n, **options)
    @given(strategy)
    def collect(rule_set: RuleSet) -> None:
        found.append(rule_set)

    collect()
    return playable([str(rule_set) for rule_set in found])


def playable(texts: list[str]) -> list[RuleSet]:
    """Return the rules that compile and whose conditions fit into tables."""
    rules = []
    for text in texts:
        with suppress(RuleError, RuleSyntaxError):
            rule = parse(text)
            gjax.make(rule)
            rules.append(rule)
    return rules


def replay_in_banks(rules: list[RuleSet], rng: np.random.Generator) -> Counter:
    """Replay rules in banks of tables of about the same size."""
    sizes = [gjax.make(rule)[1].rules["entries"].shape[1].bit_length() // 5 for rule in rules]
    met: Counter = Counter()
    for size in sorted(set(sizes)):
        bank = [rule for rule, own in zip(rules, sizes, strict=True) if own == size]
        met += replay(bank, SPECS[0], per_rule=8, n_steps=24, horizon=20, rng=rng)
    return met


@pytest.mark.full
@pytest.mark.parametrize("strategy", [paper_rule_sets, order_rule_sets, rule_sets])
def test_generated_rules_play_as_the_engine_plays_them(strategy):
    rules = sample(strategy(), 100)
    assert len(rules) > 80
    replay_in_banks(rules, np.random.default_rng(4))


@pytest.mark.full
def test_two_conditions_of_a_rule_share_a_table_of_all_fields():
    rules = playable(
        [
            "(code:q.bucket.shape==this.shape) (code:last.shape==q.bucket.shape) (*,*,red,*,0)",
            "(code:!q.bucket) (code:last.shape==q.bucket.shape, bucket:p+1) (*,*,red,*,0)",
        ]
    )
    met = replay(
        rules, SPECS[0], per_rule=100, n_steps=20, horizon=20, rng=np.random.default_rng(7)
    )
    assert min(met[code] for code in (0, 4, 7)) > 50


@pytest.mark.full
def test_the_rules_of_the_recordings_play_as_the_engine_plays_them():
    if not VECTORS.is_dir():
        pytest.skip("the recorded episodes are not in the repository")
    paths = [p for p in sorted(VECTORS.glob("*.jsonl.gz")) if "boards" not in p.name]
    texts = sorted({r["rule_text"] for path in paths for r in records(path) if "rule_text" in r})
    rules = playable(texts[::4])
    assert len(rules) > 250
    replay_in_banks(rules, np.random.default_rng(5))


@pytest.mark.full
def test_half_of_the_sizes_of_the_catalogue_alone():
    by_size = {str(jax.tree.map(np.shape, gjax.make(rule)[1].rules)): rule for rule in RULES}
    assert len(by_size) > 12
    rng = np.random.default_rng(6)
    for rule in [*by_size.values()][::2]:
        replay([rule], SPECS[0], per_rule=200, n_steps=25, horizon=20, rng=rng)


@pytest.mark.full
def test_the_replay_holds_with_numbers_of_64_bits():
    tests = "test_all_shipped_rules_in_one_bank or learners_see or few_boards"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", tests]
    done = subprocess.run(
        [*command, str(Path(__file__).parent)],
        env=os.environ | {"JAX_ENABLE_X64": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
