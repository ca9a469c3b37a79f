"""Procedures: what chooses subsets of tasks, and fits a model to one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, Unpack

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.work import Progress

#: Subsets of tasks, best first.
Subsets: TypeAlias = tuple[tuple[str, ...], ...]


class ChoiceOptions(TypedDict, total=False):
    """The fields of :class:`ChoiceSettings`, as keywords."""

    forced: Sequence[str]
    n_best: int
    executor: Executor | None
    progress: Progress | None


@dataclass(frozen=True)
class ChoiceSettings:
    """How a procedure is to choose.

    Parameters
    ----------
    forced : sequence of str
        Tasks that every subset has.
    n_best : int
        How many subsets.
    executor : Executor, optional
        Who does the pieces of work; this process if not given. The answer is the same.
    progress : function of (done, all), optional
        Told how much is done.
    """

    forced: Sequence[str] = ()
    n_best: int = 1
    executor: Executor | None = None
    progress: Progress | None = None


class Procedure(ABC):
    """Chooses subsets of tasks, and fits a model to one: what one of one's own derives from.

    Examples
    --------
    >>> from gnomon.distillation import distill, fit_least_squares
    >>> from gnomon.scores import load_scores
    >>> class Alphabetic(Procedure):
    ...     name = "alphabetic"
    ...
    ...     def choose(self, data, size, **options):
    ...         return (data.candidates[:size],)
    ...
    ...     def fit(self, data, tasks):
    ...         return fit_least_squares(data, tasks)
    >>> found = distill(
    ...     load_scores("gohr-full"), procedure=Alphabetic(), transform="identity", summary="mean"
    ... )
    >>> found[0].procedure, round(found[0].r2, 2)
    ('alphabetic', 0.9)
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    @abstractmethod
    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the best subsets, best first; for the options see :class:`ChoiceSettings`."""

    @abstractmethod
    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the model of a subset."""

    def best(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Procedure:
        """Return the procedure that is to choose here: itself, unless it chooses between some."""
        del data, size, options
        return self

    def with_spread(self, data: PreparedScores, model: SubsetModel) -> SubsetModel:
        """Return a fitted model that knows how unsure it is; itself, if the procedure does not."""
        del data
        return model
