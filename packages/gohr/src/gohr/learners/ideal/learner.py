"""The ideal learner: Bayesian elimination over thousands of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final

import numpy as np
import numpy.typing as npt

from gohr.game.board import N_BUCKETS, N_CELLS
from gohr.learners.base import Learner
from gohr.learners.ideal.hypotheses import check_palettes
from gohr.learners.uniform_numbers import Draws
from gohr.playing import Observation, Transition

if TYPE_CHECKING:
    from gohr.learners.ideal.belief import Belief

#: Differences below this are rounding.
_EQUAL = 1e-9


@final
@dataclass(kw_only=True, eq=False)
class Ideal(Learner):
    """Keep every rule that agrees with the replies, and make the most informative attempt.

    Its space has about 24,000 rules (:mod:`gohr.learners.ideal.hypotheses`): all of the
    library, and families that a generator makes. A priori all families are equally probable,
    and so are the rules within a family. It plays all of them in parallel and drops those
    that predicted another reply, which gives the exact probability of every reply to every attempt.
    Its errors are a benchmark for learners of this space
    (:func:`gohr.learners.ideal.regret.regret`).

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
    >>> from gohr.game import draw_boards
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
        self._information_first = self.choice == "information"
        self._draws = Draws(1, rng=self.rng)
        self._failed = np.zeros(N_CELLS * N_BUCKETS, dtype=np.bool_)
        self._belief: Belief | None = None
        self._begun = False

    @property
    def belief(self) -> Belief:
        """Its belief; the space is created on first use."""
        from gohr.learners.ideal.belief import Belief

        if self._belief is None:
            self._belief = Belief(self.board_spec)
        return self._belief

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
        from gohr.learners.frugal_kernel import note_failure

        note_failure(self._failed, transition.action, transition.outcome, not self._begun)

    def _best(self, actions: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """Return the attempts that nothing beats."""
        forecast = self.belief.forecast()
        criteria = [forecast.information, forecast.accepted]
        for values in criteria if self._information_first else reversed(criteria):
            value = values[actions]
            actions = actions[value >= value.max() - _EQUAL]
        return actions
