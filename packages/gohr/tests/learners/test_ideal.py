"""Belief against the reference interpreter, and the learner that acts on it."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from gohr import Board, BoardSpec, ReferenceGame, draw_boards, play
from gohr.errors import ConfigError
from gohr.learners import Ideal, make_learner
from gohr.rules import available_rules, load_rule, parse


def small_space(every):
    """Return every n-th hypothesis as a space of its own."""
    space = Ideal().belief.space
    chosen = range(0, len(space), every)
    programs = [space.programs[space.starts[k] : space.starts[k + 1]] for k in chosen]
    prior = space.log_prior[list(chosen)]
    return replace(
        space,
        hypotheses=tuple(space.hypotheses[k] for k in chosen),
        log_prior=prior - np.logaddexp.reduce(prior),
        programs=np.concatenate(programs),
        starts=np.cumsum([0, *map(len, programs)]),
    )


class Slow:
    """Bayes' rule, with a reference game for each hypothesis."""

    def __init__(self, space):
        self.rules = [parse(h.text) for h in space.hypotheses]
        self.weights = dict(enumerate(np.exp(space.log_prior)))

    def begin(self, board):
        self.games = {
            h: ReferenceGame(self.rules[h], Board.from_codes(board)) for h in self.weights
        }
        self.keep(lambda h: self.games[h].finish == 0)

    def keep(self, agrees):
        self.weights = {h: w for h, w in self.weights.items() if agrees(h)}

    def forecast(self, action):
        found = Counter()
        for h, w in self.weights.items():
            found[self.games[h].copy().attempt_at(action // 4 + 1, action % 4)] += w
        total = sum(found.values())
        chances = [w / total for w in found.values()]
        return found[0] / total, -sum(p * math.log2(p) for p in chances)

    def update(self, action, outcome, over):
        def agrees(h):
            found = self.games[h].attempt_at(action // 4 + 1, action % 4)
            return found == outcome and (self.games[h].finish != 0) == over

        self.keep(agrees)


@pytest.mark.parametrize("hidden", ["clockwise", "quota-of-two", "topmost-first", "red-or-star"])
def test_the_belief_is_bayes_rule_with_the_reference(monkeypatch, hidden):
    space = small_space(150)
    monkeypatch.setattr("gohr.learners.ideal.hypothesis_space", lambda _: space)
    fast, slow = Ideal().belief, Slow(space)
    rng = np.random.default_rng(1)
    for board in draw_boards(2, rng=rng):
        game = ReferenceGame(load_rule(hidden), Board.from_codes(board))
        fast.begin(board)
        slow.begin(board)
        for _ in range(25):
            assert fast.alive.tolist() == sorted(slow.weights)
            if game.finish or not len(fast.alive):
                break
            cells = [piece.pos - 1 for piece in game.pieces]
            forecast = fast.forecast()
            for action in rng.choice([4 * c + b for c in cells for b in range(4)], 6).tolist():
                accepted, information = slow.forecast(action)
                assert forecast.accepted[action] == pytest.approx(accepted, abs=1e-11)
                assert forecast.information[action] == pytest.approx(information, abs=1e-9)
            outcome = game.attempt_at(action // 4 + 1, action % 4)
            fast.update(action=action, outcome=outcome, over=game.finish != 0)
            slow.update(action, outcome, game.finish != 0)


@pytest.mark.parametrize(("choice", "every"), [("information", 3), ("success", 8)])
def test_the_rules_of_the_library_are_found_out(choice, every):
    errors = {}
    for rule in available_rules()[::every]:
        rng = np.random.default_rng(2)
        learner = Ideal(rng=rng, choice=choice)
        log = play(draw_boards(6, rng=rng), learner, load_rule(rule))
        belief = learner.belief
        assert rule in [belief.space.hypotheses[k].name for k in belief.alive]
        errors[rule] = int((log.outcomes != 0).sum())
    assert max(errors.values()) < 25
    assert np.mean(list(errors.values())) < 8


def test_the_information_of_what_it_attempts_is_the_most_there_is():
    rng = np.random.default_rng(3)
    learner = Ideal(rng=rng)
    board = draw_boards(1, rng=rng)[0]
    learner.belief.begin(board)
    forecast = learner.belief.forecast()
    assert 1 < forecast.information.max() <= math.log2(3)
    assert (forecast.information[np.repeat(board == 0, 4)] == 0).all()


def test_a_rule_outside_the_space_is_played_without_hypotheses():
    odd = parse(
        "(1,star,*,*,0) (1,*,red,*,3)\n(3,*,*,T,2) (1,*,*,B,1)\n(*,*,*,*,ps+pc+Nearby)\n(*,*,*,*,*)"
    )
    rng = np.random.default_rng(4)
    learner = Ideal(rng=rng)
    log = play(draw_boards(8, rng=rng), learner, odd, horizon=1000)
    assert len(learner.belief.alive) == 0
    assert learner.belief.likeliest is None
    assert np.isnan(learner.belief.forecast().accepted).all()
    # Each piece takes a failure for each other attempt at most, as the frugal player's.
    assert (log.n_attempts <= 9 + 4 * 45).all()


def test_boards_cut_off_and_boards_stuck():
    rng = np.random.default_rng(7)
    boards = draw_boards(6, rng=rng)
    for rule, horizon in [(load_rule("spiral"), 5), (load_rule("one-color-a-bucket"), 100)]:
        learner = Ideal(rng=rng)
        play(boards, learner, rule, horizon=horizon)
        assert len(learner.belief.alive)


def test_a_wrong_setting_or_palette_is_told():
    with pytest.raises(ConfigError, match="choice: expected 'information' or 'success', found 'x'"):
        make_learner("ideal", BoardSpec(), rng=np.random.default_rng(0), choice="x")
    spec = BoardSpec(color_palette=tuple("abcde"))
    with pytest.raises(ConfigError, match="learner 'ideal': expected at most 4 colors"):
        make_learner("ideal", spec, rng=np.random.default_rng(0))
