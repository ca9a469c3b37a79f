import numpy as np
import pytest

from gohr import BoardSpec, draw_boards, play
from gohr.learners import Ideal, make_learner, regret
from gohr.rules import load_rule, parse


def played(kind, rule, n_boards=6, horizon=60, **settings):
    learner = make_learner(kind, BoardSpec(), rng=np.random.default_rng(1), **settings)
    boards = draw_boards(n_boards, rng=np.random.default_rng(2))
    return play(boards, learner, load_rule(rule), horizon=horizon)


@pytest.mark.parametrize("rule", ["clockwise", "one-color-a-bucket", "topmost-first"])
def test_each_ideal_learner_has_no_regret_of_its_own_kind(rule):
    bold, safe = (regret(played("ideal", rule, choice=c)) for c in ("information", "success"))
    assert bold.bits.max() < 1e-9
    assert safe.attempts.max() < 1e-9
    assert bold.remaining_bits[0] == safe.remaining_bits[0] > 10


@pytest.mark.parametrize("rule", ["clockwise", "color-match"])
def test_one_who_learns_nothing_has_much_regret(rule):
    uniform, ideal = (regret(played(kind, rule)) for kind in ("uniform", "ideal"))
    assert uniform.attempts.sum() > 10 * ideal.attempts.sum()
    assert (uniform.attempts >= 0).all()
    assert (uniform.bits >= 0).all()
    assert (np.diff(uniform.remaining_bits) < 8).all()


def test_once_the_rule_is_known_regret_is_the_chance_to_err():
    # The observer is certain: the best attempt is accepted for sure, so each error costs one.
    log = played("uniform", "clockwise", n_boards=12)
    found = regret(log)
    # Texts that play alike here are never told apart, so some bits remain.
    late = np.flatnonzero(found.remaining_bits < 3)[-200:]
    assert late.size > 20
    assert found.attempts[late].tolist() == (log.outcomes[late] != 0).tolist()


def test_rows_after_the_end_have_none_and_empty_cells_all():
    log = played("linear_dqn", "clockwise", plays_on=True)
    found = regret(log)
    over = log.outcomes == -4
    assert over.any()
    assert (found.attempts[over] == 0).all()
    empty = log.outcomes == 3
    assert (found.attempts[empty] > 0).all()


def test_a_rule_outside_the_space_has_no_regret_that_could_be_told():
    odd = parse("(1,star,*,*,0) (1,*,red,*,3)\n(3,*,*,T,2) (1,*,*,B,1)\n(*,*,*,*,ps+pc+Nearby)")
    log = play(
        draw_boards(8, rng=np.random.default_rng(4)), Ideal(rng=np.random.default_rng(3)), odd
    )
    found = regret(log)
    assert np.isnan([found.attempts[-1], found.bits[-1]]).all()
    assert np.isfinite(found.attempts[0])
