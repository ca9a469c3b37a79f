"""The one loop: by a kernel or by act and observe, the same attempts."""

import re

import numpy as np
import pytest

from gohr import BoardSpec, TrialLog, compile_rule, draw_boards, play
from gohr.learners import LinearDQN, RulePlayer, Uniform, make_learner
from gohr.rules import load_rule, parse
from trial_loops import play_unfused

SIX_PIECES = BoardSpec(6, 0, 0, ("star", "circle", "square"), ("red", "blue"))
RULES = {
    "color-match": (load_rule("color-match"), BoardSpec()),
    "topmost-first": (load_rule("topmost-first"), BoardSpec()),
    # Some boards of this one are stuck from the start, others later.
    "stuck": (parse("(*,star,*,*,1) (*,*,red,*,pc)"), SIX_PIECES),
}
LEARNERS = [
    ("uniform", {}),
    ("frugal", {}),
    ("tabular_q", {"epsilon_start": 0.9, "actions": "all", "gamma": 0.9}),
    ("reinforce", {"gamma": 0.5}),
    ("reinforce", {"actions": "all", "baseline": "none", "learning_rate": 0.01}),
    ("linear_dqn", {}),
    ("linear_dqn", {"plays_on": True, "actions": "occupied", "horizon_is_terminal": True}),
    ("linear_dqn", {"tie_break": "first", "gamma": 0.9, "epsilon_per": "episode"}),
    ("linear_dqn", {"replacement": False, "buffer_size": 50, "learning_starts": 20}),
    ("linear_dqn", {"learning_rate": 1e3, "actions": "occupied"}),
]


def same(a: TrialLog, b: TrialLog) -> bool:
    columns = ("boards", "n_attempts", "actions", "outcomes", "finish")
    pairs = [(getattr(a, name), getattr(b, name)) for name in columns]
    return all(x.dtype == y.dtype and x.tobytes() == y.tobytes() for x, y in pairs)


@pytest.mark.parametrize(("kind", "settings"), LEARNERS)
@pytest.mark.parametrize("rule", RULES)
def test_a_kernel_gives_the_attempts_of_act_and_observe(kind, settings, rule):
    rule_set, spec = RULES[rule]
    rule, boards = (
        compile_rule(rule_set, spec),
        draw_boards(12, spec, rng=np.random.default_rng(1)),
    )
    for horizon in (1, 40):
        fused, plain = (
            make_learner(kind, spec, rng=np.random.default_rng(2), **settings) for _ in range(2)
        )
        log = play(boards, fused, rule, horizon=horizon)
        assert same(log, play_unfused(plain, rule, boards, horizon))
        assert log.n_attempts.sum() == len(log.actions) == len(log.outcomes)
        if hasattr(fused, "theta"):
            assert fused.theta.tobytes() == plain.theta.tobytes()


def test_a_trial_may_change_from_one_way_to_the_other():
    rule = compile_rule(load_rule("clockwise"))
    boards = draw_boards(9, rng=np.random.default_rng(3))
    whole, mixed = (LinearDQN(rng=np.random.default_rng(4), target_period=2) for _ in range(2))
    log = play(boards, whole, rule)
    parts = [
        play(boards[:4], mixed, rule),
        play_unfused(mixed, rule, boards[4:6], 100),
        play(boards[6:], mixed, rule),
    ]
    assert np.array_equal(log.actions, np.concatenate([p.actions for p in parts]))
    assert whole.theta.tobytes() == mixed.theta.tobytes()


def test_any_object_with_two_methods_is_a_policy():
    class First:
        n_seen = 0

        def act(self, observation):
            return int(observation.action_mask.argmax())

        def observe(self, transition):
            self.n_seen += 1

    first = First()
    log = play(draw_boards(2, rng=np.random.default_rng(0)), first, parse("(*,*,*,*,0)"))
    assert log.n_attempts.tolist() == [9, 9]
    assert first.n_seen == 18


def test_boards_that_are_over_as_dealt_take_no_attempt():
    boards = draw_boards(3, rng=np.random.default_rng(5))
    learner = Uniform(rng=np.random.default_rng(6))
    log = play(boards, learner, parse("(*,pentagon,*,*,0)"))
    assert log.n_attempts.tolist() == [0, 0, 0]
    assert log.finish.tolist() == [2, 2, 2]
    assert len(log.actions) == 0


def test_boards_may_be_read_only():
    boards = draw_boards(3, rng=np.random.default_rng(6))
    boards.flags.writeable = False
    log = play(boards, LinearDQN(rng=np.random.default_rng(7)), load_rule("clockwise"))
    assert log.n_attempts.min() >= 9


def test_misuse_is_told():
    boards = draw_boards(1, rng=np.random.default_rng(4))
    rule = load_rule("clockwise")
    with pytest.raises(ValueError, match="horizon: expected at least 1, found 0"):
        play(boards, RulePlayer(rng=np.random.default_rng(5)), rule, horizon=0)
    with pytest.raises(ValueError, match="not of the rule's palettes"):
        play(np.full((1, 36), 200, dtype=np.uint8), Uniform(rng=np.random.default_rng(8)), rule)
    for kind in ("tabular_q", "reinforce", "linear_dqn"):
        learner = make_learner(kind, SIX_PIECES, rng=np.random.default_rng(0))
        with pytest.raises(ValueError, match="compiled for the palettes of the learner"):
            play(boards, learner, rule)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policy": Uniform}, "policy: expected an instance, found the class Uniform"),
        ({"boards": [[0] * 36]}, "boards: expected an array of shape (n_episodes, 36), as gohr."),
        ({"boards": np.zeros(36, np.uint8)}, "found shape (36,)"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(change, message):
    rng = np.random.default_rng(0)
    given = {
        "boards": draw_boards(1, rng=rng),
        "policy": Uniform(rng=rng),
        "rule": load_rule("clockwise"),
    }
    with pytest.raises(TypeError, match=re.escape(message)):
        play(**given | change)
