"""All hypotheses compiled, with their prior, ready to be played side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from gnomon.game.board import BoardSpec
from gnomon.game.engine.compiler import CompiledRule, compile_rule
from gnomon.game.engine.program import N_COLUMNS
from gnomon.learners.ideal.hypotheses import Hypothesis, hypotheses_of
from gnomon.rules.parser import parse

__all__ = ["HypothesisSpace", "hypothesis_space"]


@dataclass(frozen=True, slots=True, eq=False)
class HypothesisSpace:
    """The rules that an ideal learner thinks possible.

    Parameters
    ----------
    hypotheses : tuple of Hypothesis
        What each is.
    log_prior : numpy.ndarray of float64, shape (n_hypotheses,)
        Natural logarithm of its probability before anything is seen: every family is as probable
        as any other, and within a family every rule.
    programs : numpy.ndarray of int64
        The compiled rules, one behind the other.
    starts : numpy.ndarray of int64, shape (n_hypotheses + 1,)
        Where each begins in ``programs``, and the end.
    n_columns : int
        Most columns that the state of a board has under any of them.
    """

    hypotheses: tuple[Hypothesis, ...]
    log_prior: npt.NDArray[np.float64]
    programs: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    n_columns: int

    def __len__(self) -> int:
        return len(self.hypotheses)


def hypothesis_space(board_spec: BoardSpec) -> HypothesisSpace:
    """Return the space for boards of these palettes; it is made once in a process.

    That takes some seconds, and 150 MB for four shapes and four colours.

    Raises
    ------
    ValueError
        If there are more than four shapes or colours.
    """
    return _space(board_spec.shape_palette, board_spec.color_palette)


@lru_cache(maxsize=2)
def _space(shapes: tuple[str, ...], colors: tuple[str, ...]) -> HypothesisSpace:
    spec = BoardSpec(1, 0, 0, shapes, colors)
    found = tuple(hypotheses_of(spec))
    atom = cache(lambda text: compile_rule(parse(text), spec))
    programs = [_program(hypothesis, spec, atom) for hypothesis in found]
    sizes = Counter(hypothesis.family for hypothesis in found)
    prior = np.array([-np.log(len(sizes) * sizes[hypothesis.family]) for hypothesis in found])
    starts = np.cumsum([0, *map(len, programs)])
    n_columns = max(int(program[N_COLUMNS]) for program in programs)
    return HypothesisSpace(found, prior, np.concatenate(programs), starts, n_columns)


def _program(
    hypothesis: Hypothesis, spec: BoardSpec, atom: Callable[[str], CompiledRule]
) -> npt.NDArray[np.int64]:
    """Compile a hypothesis from its atoms, which it shares with many others."""
    if hypothesis.lines:
        atoms = [atom(text) for line in hypothesis.lines for text in line]
        if not any(part.conditions[0] for part in atoms):
            return _assembled(hypothesis, atoms)
    return compile_rule(parse(hypothesis.text), spec).program


def _assembled(hypothesis: Hypothesis, atoms: list[CompiledRule]) -> npt.NDArray[np.int64]:
    stops = np.cumsum([len(line) for line in hypothesis.lines])
    starts = np.concatenate([[0], stops[:-1]])
    return CompiledRule(
        np.concatenate([part.atoms for part in atoms]),
        np.stack([starts, stops, np.full(len(stops), -1)], axis=1).astype(np.int32),
        np.concatenate([part.counts for part in atoms]),
        atoms[0].n_shapes,
        atoms[0].n_colors,
        (None,) * len(atoms),
        atoms[0].orders,
    ).program
