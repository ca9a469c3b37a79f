"""A learner whose two functions are compiled, so that a whole trial is."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

from gohr.learners.base import Learner
from gohr.learners.settings import settings_of
from gohr.learners.uniform_numbers import Draws
from gohr.playing import Observation, Transition

if TYPE_CHECKING:
    from gohr.playing_kernel import OpenTrial


class CompiledLearner(Learner):
    """A learner that chooses and learns by two functions that Numba compiles.

    They are in a module of their own, so that listing learners compiles nothing: ``choose`` and
    ``learn``, with the parameters that :mod:`gohr.playing_kernel` names, and ``play``, which hands
    them to its loop. :meth:`act`, :meth:`observe` and the loop call the same two, so that all give
    the same attempts.

    A subclass calls :meth:`_begin` in its ``__post_init__``.

    Attributes
    ----------
    functions : str
        Name of the module of the functions.
    """

    functions: ClassVar[str]

    def _begin(self, player: Any, *, n_draws: int, n_codes: int | None = None) -> None:
        """Take the arrays that the functions work on, and the uniform numbers of an attempt.

        ``n_codes`` is the number of codes that the arrays are made for, if it matters.
        """
        self._player, self._n_codes = player, n_codes
        self._draws = Draws(n_draws, rng=self.rng)
        self._n_colors = len(self.board_spec.color_palette)

    @property
    def _compiled(self) -> ModuleType:
        return import_module(self.functions)

    def act(self, observation: Observation) -> int:
        """Choose an attempt."""
        self._rows = self._draws.ahead(1)
        self._draws.use(1)
        last = observation.last_number(self._n_colors)
        return int(self._compiled.choose(self._player, observation.board, last, self._rows, 0))

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
        self._compiled.learn(self._player, made, after.board, self._rows, 0)

    def kernel(self, trial: OpenTrial) -> None:
        """Play boards of a trial on, as far as the numbers that were drawn suffice."""
        from gohr.game.engine.program import N_CODES

        if self._n_codes not in (None, int(trial.program[N_CODES])):
            raise ValueError("expected a rule compiled for the palettes of the learner")
        before, rows = int(trial.done[1]), self._draws.ahead(trial.horizon)
        self._compiled.play(self._player, bool(self.plays_on), trial, rows)
        self._draws.use(int(trial.done[1]) - before)


def compiled_settings(learner: Learner) -> Any:
    """Return the settings of a learner as its functions read them, a named tuple of numbers.

    A setting that is a word becomes a flag for each word that it may be: ``actions`` becomes
    ``actions_all`` and ``actions_occupied``.
    """
    values: dict[str, float] = {}
    for name, field in settings_of(type(learner)).items():
        value: Any = getattr(learner, name)
        if field.choices:
            values |= {f"{name}_{word}": value == word for word in field.choices}
        else:
            values[name] = field.type(value)
    return _settings_type(type(learner), tuple(values))(**values)


@cache
def _settings_type(learner: type[Learner], names: tuple[str, ...]) -> Any:
    """Return the type, which compiled code finds again in the next process by its place."""
    made = namedtuple("Settings", names)  # type: ignore[misc]  # the names are known at run time alone
    made.__module__, made.__qualname__ = learner.__module__, f"{learner.__qualname__}.Settings"
    learner.Settings = made  # type: ignore[attr-defined]  # Numba's cache finds it there
    return made
