"""The ideal learner, by elimination among thousands of rules, and the regret of others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, final

import numpy as np
import numpy.typing as npt

from gohr.board import DEFAULT_SPEC, N_BUCKETS, N_CELLS, BoardSpec
from gohr.learners.base import Learner, UniformNumbers
from gohr.learners.belief import Belief
from gohr.learners.fixed_players import note_failure
from gohr.learners.hypotheses import check_palettes
from gohr.outcomes import EPISODE_OVER
from gohr.playing import Observation, Transition, TrialLog

_Float = npt.NDArray[np.float64]
#: Differences below this are rounding.
_EQUAL = 1e-9


@final
@dataclass(kw_only=True, eq=False)
class Ideal(Learner):
    """Keep every rule that agrees with the replies, and make the most informative attempt.

    Its space has about 24,000 rules (:mod:`gohr.learners.hypotheses`): all of the
    library, and families that a generator makes. A priori all families are equally probable,
    and so are the rules within a family. It plays all of them in parallel and drops those
    that predicted another reply, which gives the exact probability of every reply to every attempt.
    Its errors are a benchmark for learners of this space
    (:func:`gohr.learners.regret`).

    If the hidden rule is not in the space, at some point no hypothesis is left. From then on it
    plays as :class:`gohr.learners.Frugal` does.

    Parameters
    ----------
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.
    rng : numpy.random.Generator
        Decides among attempts that are equally good; every attempt uses one uniform number.
    choice : {"information", "success"}
        ``information``: the attempt with the most expected information, ties broken by the
        probability of acceptance; ``success``: the reverse. The second makes fewer errors while it
        plays, the first identifies the rule sooner. Neither looks ahead further than one attempt,
        so neither attains the smallest possible number of errors.

    Raises
    ------
    ValueError
        If the palettes are too large.

    References
    ----------
    Lindley: *On a measure of the information provided by an experiment* (1956).

    Examples
    --------
    >>> import numpy as np
    >>> from gohr import draw_boards
    >>> from gohr import play
    >>> from gohr.rules import load_rule
    >>> rng = np.random.default_rng(0)
    >>> learner = Ideal(rng=rng)
    >>> log = play(draw_boards(5, rng=rng), learner, load_rule("color-match"))
    >>> log.n_attempts[-2:].tolist()  # nothing is left to learn
    [9, 9]
    """

    choice: Literal["information", "success"] = "information"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_palettes(self.board_spec)
        self._draws = UniformNumbers(1, rng=self.rng)
        self._failed = np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_)
        self._begun = False

    @cached_property
    def belief(self) -> Belief:
        """Its belief; the space is created on first use."""
        return Belief(self.board_spec)

    def act(self, observation: Observation) -> int:
        """Choose the most informative attempt, or the one most probably accepted."""
        if not self._begun:
            self.belief.begin(observation.board)
            self._begun = True
        u = float(self._draws.row()[0])
        actions = np.flatnonzero((observation.action_mask != 0) & ~self._failed)
        if len(self.belief.alive):
            actions = self._best(np.flatnonzero(observation.action_mask))
        return int(actions[int(u * len(actions))])

    def observe(self, transition: Transition) -> None:
        """Drop what foretold another reply."""
        over = transition.terminated
        self.belief.update(action=transition.action, outcome=transition.outcome, over=over)
        self._begun = not (over or transition.truncated)
        note_failure(self._failed, transition.action, transition.outcome, not self._begun)

    def _best(self, actions: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the best attempts."""
        forecast = self.belief.forecast()
        criteria = [forecast.information, forecast.accepted]
        for values in criteria if self.choice == "information" else reversed(criteria):
            value = values[actions]
            actions = actions[value >= value.max() - _EQUAL]
        return actions


@dataclass(frozen=True, slots=True, eq=False)
class Regret:
    """What an ideal observer, who saw the same replies, says of each attempt of a trial.

    Each array has shape (n_rows,), a number for each row of the log.

    Parameters
    ----------
    attempts : numpy.ndarray of float64
        Difference in probability of acceptance between the best attempt and this one, given the
        replies so far. Their sum is the number of errors, on average, that a learner made by not
        drawing the conclusions that it could have drawn.
    bits : numpy.ndarray of float64
        Difference in expected information between the most informative attempt and this one.
    remaining_bits : numpy.ndarray of float64
        Entropy of the belief before the attempt: the information still missing. This and the two
        above are not negative, NaN once no hypothesis agrees with the log, and the first two are 0
        for attempts after a board was cleared.
    expected : numpy.ndarray of float64
        Probability that the attempt would be accepted; NaN once no hypothesis is left, and for
        attempts after a board was cleared.
    n_alive : numpy.ndarray of int64
        Hypotheses that agreed with all replies before the attempt; 0 once the rule is known to be
        none of them.
    n_cut : numpy.ndarray of int64
        Number of them that its reply ruled out.
    """

    attempts: _Float
    bits: _Float
    remaining_bits: _Float
    expected: _Float
    n_alive: npt.NDArray[np.int64]
    n_cut: npt.NDArray[np.int64]

    @property
    def informative(self) -> npt.NDArray[np.bool_]:
        """Whether the reply ruled out any hypothesis."""
        return self.n_cut > 0


def regret(log: TrialLog, *, board_spec: BoardSpec = DEFAULT_SPEC) -> Regret:
    """Measure a player's attempts against an ideal observer who saw the same.

    The observer believes in the hypotheses of :class:`gohr.learners.Ideal` and sees the player's
    own attempts and replies. Luck does not count: the regret of an attempt depends on what was
    known before it, not on the reply. The result also shows which attempts were informative, and
    which tested what was expected to succeed (positive testing).

    Parameters
    ----------
    log : TrialLog
        The trial of a learner, a person or a language model.
    board_spec : BoardSpec
        At most four shapes and four colours in the palettes.

    Returns
    -------
    Regret

    References
    ----------
    Klayman and Ha: *Confirmation, disconfirmation, and information in hypothesis testing* (1987).

    Examples
    --------
    >>> import gohr
    >>> from gohr.learners import Ideal, Uniform
    >>> rng = np.random.default_rng(0)
    >>> boards = gohr.draw_boards(3, rng=rng)
    >>> rule, players = gohr.load_rule("clockwise"), (Uniform(rng=rng), Ideal(rng=rng))
    >>> uniform, ideal = (regret(gohr.play(boards, player, rule)) for player in players)
    >>> bool(uniform.attempts.sum() > 20 * ideal.attempts.sum()), float(ideal.bits.sum())
    (True, 0.0)
    >>> bool(uniform.informative[:10].mean() > uniform.informative[-30:].mean())
    True
    """
    belief, n = Belief(board_spec), len(log.actions)
    attempts, bits, remaining = np.zeros((3, n))
    expected, n_alive, n_cut = np.full(n, np.nan), *np.zeros((2, n), dtype=np.int64)
    for row, codes, over in belief.follow(log):
        action, outcome = int(log.actions[row]), int(log.outcomes[row])
        n_alive[row], remaining[row] = len(belief.alive), belief.entropy
        if outcome != EPISODE_OVER:
            occupied, forecast = np.repeat(codes > 0, N_BUCKETS), belief.forecast()
            accepted, information = forecast.accepted, forecast.information
            attempts[row] = accepted[occupied].max() - accepted[action]
            bits[row] = information[occupied].max() - information[action]
            expected[row] = accepted[action]
            belief.update(action=action, outcome=outcome, over=over)
        n_cut[row] = n_alive[row] - len(belief.alive)
    return Regret(attempts, bits, remaining, expected, n_alive, n_cut)
