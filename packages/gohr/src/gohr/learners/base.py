"""The interface of a learner: it acts, and it observes what came of the attempt.

A trial is one learner on one rule from scratch, for a number of episodes;
:func:`gohr.play` runs it. A learner sees what a player sees: the board, the
last accepted attempt, and the reply to each attempt. The permitted moves are the answer, and only a
learner that declares ``reveal`` is shown them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from gnomon.results import generator
from gohr.board import DEFAULT_SPEC, BoardSpec
from gohr.learners.registry import check_settings, settings_of
from gohr.playing import Observation as Observation
from gohr.playing import Transition as Transition

if TYPE_CHECKING:
    from gohr.playing_kernel import OpenTrial

#: Least number of rows that are drawn at a time, which changes no number.
_BLOCK = 256


@dataclass(eq=False)
class Learner(ABC):
    """A player that may learn: it acts, and it observes.

    A subclass defines how. Its parameters, beside the two below, are its settings: config files,
    ``gohr learners`` and the card of a run know them by their names, types and defaults, and the
    subclass keeps each as an attribute of that name. A dataclass needs no more code, and can create
    its state in ``__post_init__``.

    The contract:

    * Every random choice comes from ``rng``, so that a trial can be played again.
    * Nothing is kept outside the learner: each trial makes a new one.
    * :meth:`act` and :meth:`observe` are called alternately.
    * A learner that raises, or returns an invalid action, fails its trial and no other.

    Parameters
    ----------
    board_spec : BoardSpec
        How boards are drawn; the palettes define the codes of a board.
    rng : numpy.random.Generator or int
        The only source of randomness, and the learner's own; or its seed.

    Attributes
    ----------
    reveal : bool
        Whether it is shown what the rule permits. Such a player is a reference, not a learner.
    plays_on : bool
        Whether it continues to attempt after a board is cleared, until the horizon; the reward is 0
        there, and such attempts count neither as attempts nor as errors.

    Raises
    ------
    ValueError
        If a setting is out of the range that it declares.

    Examples
    --------
    >>> import gohr
    >>> @dataclass
    ... class Stubborn(Learner):
    ...     bucket: int = 0
    ...     def act(self, observation):
    ...         actions = np.flatnonzero(observation.action_mask)
    ...         return self.rng.choice(actions[actions % 4 == self.bucket])
    ...     def observe(self, transition):
    ...         self.bucket = (self.bucket + 1) % 4
    >>> log = gohr.play(gohr.draw_boards(2), Stubborn(), gohr.load_rule("clockwise"))
    >>> log.n_attempts.tolist()
    [9, 9]
    """

    board_spec: BoardSpec = field(default=DEFAULT_SPEC, repr=False)
    rng: np.random.Generator = field(default_factory=generator, kw_only=True, repr=False)

    reveal: ClassVar[bool] = False
    plays_on = False  # not annotated: no field here, though a subclass may make it a setting

    def __post_init__(self) -> None:
        """Check the settings; a dataclass that has its own calls this one first."""
        self.rng = generator(self.rng)
        check_settings(self)

    @abstractmethod
    def act(self, observation: Observation) -> int:
        """Choose an attempt: ``4 * cell + bucket``, with cells from 0 and buckets from 0."""

    @abstractmethod
    def observe(self, transition: Transition) -> None:
        """Learn from the outcome of the attempt that :meth:`act` chose last."""


class UniformNumbers:
    """Rows of uniform numbers in [0, 1), one row for each attempt of a learner.

    Compiled code cannot be handed a generator cheaply, so a learner draws ahead, and every attempt
    uses a row of fixed width whether it needs all of it or not. A choice among ``n`` is
    ``floor(u * n)``. Row ``i`` is always numbers ``i * width`` and following of the generator's
    stream, so that a loop over a whole trial, and one attempt at a time, see the same numbers.
    """

    def __init__(self, width: int, *, rng: np.random.Generator) -> None:
        self._rng = rng
        self._rows = np.empty((0, width))
        self._used = 0

    def ahead(self, n_rows: int) -> npt.NDArray[np.float64]:
        """Return the next rows without using them: at least ``n_rows``."""
        rest = self._rows[self._used :]
        if len(rest) < n_rows:
            new = max(n_rows - len(rest), _BLOCK)
            self._rows = np.concatenate([rest, self._rng.random((new, rest.shape[1]))])
            self._used = 0
        return self._rows[self._used :]

    def use(self, n_rows: int) -> None:
        """Advance past the next ``n_rows``, which :meth:`ahead` has returned."""
        self._used += n_rows

    def row(self) -> npt.NDArray[np.float64]:
        """Return the next row and use it."""
        row: npt.NDArray[np.float64] = self.ahead(1)[0]
        self.use(1)
        return row


class CompiledLearner(Learner):
    """A learner that chooses and learns by two functions that Numba compiles.

    :meth:`act`, :meth:`observe` and the loop of a whole trial call the same two, so that all give
    the same attempts. A subclass names its ``functions`` and calls :meth:`_begin` in its
    ``__post_init__``.

    Attributes
    ----------
    functions : tuple of function
        ``choose`` and ``learn``, with the parameters that :mod:`gohr.playing_kernel` names, and
        ``play``, which hands them to its loop.
    """

    functions: ClassVar[tuple[Any, Any, Any]]

    def _begin(self, player: Any, *, n_draws: int, n_codes: int | None = None) -> None:
        """Take the arrays that the functions work on, and the uniform numbers of an attempt.

        ``n_codes`` is the number of codes that the arrays are made for, if it matters.
        """
        self._player, self._n_codes = player, n_codes
        self._draws = UniformNumbers(n_draws, rng=self.rng)
        self._n_colors = len(self.board_spec.color_palette)

    def act(self, observation: Observation) -> int:
        """Choose an attempt."""
        self._rows = self._draws.ahead(1)
        self._draws.use(1)
        last, choose = observation.last_number(self._n_colors), self.functions[0]
        return int(choose(self._player, observation.board, last, self._rows, 0))

    def observe(self, transition: Transition) -> None:
        """Learn from the outcome of the attempt."""
        from gohr.playing_kernel import Made

        seen, after = transition.observation, transition.next_observation
        made = Made(
            seen.last_number(self._n_colors),
            transition.action,
            int(seen.board[transition.action >> 2]),
            transition.outcome,
            float(transition.reward),
            after.last_number(self._n_colors),
            transition.terminated,
            transition.truncated,
        )
        self.functions[1](self._player, made, after.board, self._rows, 0)

    def kernel(self, trial: OpenTrial) -> None:
        """Play boards of a trial on, as far as the numbers that were drawn suffice."""
        from gohr.engine.program import N_CODES

        if self._n_codes not in (None, int(trial.program[N_CODES])):
            raise ValueError("expected a rule compiled for the palettes of the learner")
        before, rows = int(trial.done[1]), self._draws.ahead(trial.horizon)
        self.functions[2](self._player, bool(self.plays_on), trial, rows)
        self._draws.use(int(trial.done[1]) - before)


def compiled_settings(learner: Learner) -> Any:
    """Return the settings of a learner as its functions read them, a named tuple of numbers.

    A setting that is a word becomes a flag for each word that it may be: ``actions`` becomes
    ``actions_all`` and ``actions_occupied``.
    """
    values: dict[str, float] = {}
    for name, setting in settings_of(type(learner)).items():
        value: Any = getattr(learner, name)
        if setting.choices:
            values |= {f"{name}_{word}": value == word for word in setting.choices}
        else:
            values[name] = setting.type(value)
    return _settings_type(type(learner), tuple(values))(**values)


@cache
def _settings_type(learner: type[Learner], names: tuple[str, ...]) -> Any:
    """Return the type, which compiled code finds again in the next process by its place."""
    made = namedtuple("Settings", names)  # type: ignore[misc]  # the names are known only at run time
    made.__module__, made.__qualname__ = learner.__module__, f"{learner.__qualname__}.Settings"
    learner.Settings = made  # type: ignore[attr-defined]  # Numba's cache finds it there
    return made
