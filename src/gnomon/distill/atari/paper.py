"""The Atari-5 paper's data, its models fitted again, and how well each named subset predicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from gnomon.distill.atari.facts import NAMED_SUBSETS, atari_preparation, published_models
from gnomon.distill.models import SubsetModel
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import PaperProcedure
from gnomon.distill.validation.cross_validation import HeldOut, cross_validate
from gnomon.results import FieldRecord, Results
from gnomon.scores.datasets import load_scores
from gnomon.scores.table import FloatArray


def paper_scores() -> PreparedScores:
    """Return the data set as the paper's code prepares it: 62 algorithms, 57 games."""
    return atari_preparation().apply(load_scores("atari5"))


def selected_sets(data: PreparedScores) -> dict[str, tuple[str, ...]]:
    """Return the published subsets, found again by the rule of the paper's code.

    The order of the searches is that of section 4.3: Atari-5, the best three of them, the best one
    of those; then validation sets without Atari-5; then Atari-10 without the validation games.
    """
    five = _best(data, 5, data.candidates)
    three = _best(data, 3, five)
    one = _best(data, 1, three)
    rest = [task for task in data.candidates if task not in five]
    three_val = _best(data, 3, rest)
    five_val = _best(data, 5, rest, forced=three_val)
    free = [task for task in rest if task not in five_val]
    ten = _best(data, 10, free, forced=five)
    return {
        "Atari-1": one,
        "Atari-3": three,
        "Atari-5": five,
        "Atari-10": ten,
        "Atari-3-Val": three_val,
        "Atari-5-Val": five_val,
    }


def _best(
    data: PreparedScores,
    size: int,
    candidates: tuple[str, ...] | list[str],
    forced: tuple[str, ...] = (),
) -> tuple[str, ...]:
    procedure = PaperProcedure(criterion="in_sample")
    return procedure.choose(replace(data, candidates=tuple(candidates)), size, forced=forced)[0]


class Paper:
    """The data, and the models that several tables share."""

    procedure = PaperProcedure()

    @cached_property
    def data(self) -> PreparedScores:
        """The scores as the paper's code prepares them."""
        return paper_scores()

    @cached_property
    def models(self) -> Mapping[str, SubsetModel]:
        """The published subsets and DQN-7, each fitted again."""
        published = {name: model.tasks for name, model in published_models().items()}
        published["DQN-7"] = NAMED_SUBSETS["DQN-7"]
        return {name: self.procedure.fit(self.data, tasks) for name, tasks in published.items()}

    def held_out(self, name: str) -> HeldOut:
        """Return what a subset predicts of algorithms that its weights had not seen."""
        return cross_validate(self.data, self.procedure, self.models[name].tasks)

    def predicted(self, name: str) -> FloatArray:
        """Return what a model says of each algorithm, transformed, in-sample."""
        model = self.models[name]
        return model.predict(self.data.x[:, self.data.columns(model.tasks)])


@dataclass(frozen=True)
class NamedSubset(FieldRecord):
    """How well a named subset predicts the median, by the paper's method.

    Parameters
    ----------
    name : str
    games : tuple of str
    r2, relative_error : float
        Cross-validated with the games given.
    n_rows : int
        Algorithms with scores on all of them.
    """

    name: str
    games: tuple[str, ...]
    r2: float
    relative_error: float
    n_rows: int


@dataclass(frozen=True, eq=False, repr=False)
class NamedSubsets(Results[NamedSubset]):
    """How well each named subset predicts the median."""


def subsets() -> NamedSubsets:
    """Return how well each named subset predicts the median, by the paper's method.

    Raises
    ------
    ScoreDataError
        The data set is not at hand and cannot be fetched.
    """
    paper = Paper()
    named = {name: model.tasks for name, model in published_models().items()} | dict(NAMED_SUBSETS)
    found = []
    for name, games in named.items():
        held = cross_validate(paper.data, paper.procedure, games)
        errors = held.fold_r2, held.fold_relative_error
        found.append(NamedSubset(name, games, *errors, held.n_predicted))
    return NamedSubsets(tuple(found))
