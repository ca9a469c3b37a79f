"""Stability of a selection: how often other algorithms would choose each task; committees."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import PreparedScores, check_groups, transform_of
from gnomon.distillation.procedures.least_squares import PaperProcedure
from gnomon.distillation.procedures.procedure import Procedure
from gnomon.distillation.procedures.registry import procedure_of
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.work import Progress, completed
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.results import Results, Row, generator, made_by, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: What is drawn, or left out one by one; or the folds of the paper's procedure.
Drawn = Literal["algorithms", "groups", "left-out-algorithms", "left-out-groups", "fold-seeds"]
#: A bootstrap sample holds so large a share of distinct rows, on average: 1 - 1/e.
_DISTINCT = 0.632
#: So many subsets are shown to people, and so many tasks for each task of a subset.
_SETS_SHOWN, _TASKS_SHOWN = 5, 3


@dataclass(frozen=True)
class Choice:
    """How often a task or a subset was chosen; or a member of a committee, with its model.

    Parameters
    ----------
    kind : {"task", "subset", "member"}
    tasks : tuple of str
        One for a task; else sorted.
    share : float
        Of the choices; of the votes for a member.
    model : SubsetModel, optional
        Of a member.
    """

    kind: Literal["task", "subset", "member"]
    tasks: tuple[str, ...]
    share: float
    model: SubsetModel | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the fields as a mapping fit for JSON, with the weights of a member."""
        record = {"kind": self.kind, "tasks": list(self.tasks), "share": self.share}
        if self.model is None:
            return record
        return record | {"weights": list(self.model.weights), "intercept": self.model.intercept}


@dataclass(frozen=True, eq=False, repr=False)
class Stability(Results[Choice]):
    """How often each task, and each subset, was chosen; most frequent first.

    Parameters
    ----------
    n_models : int
        How many choices there were.
    """

    n_models: int = field(kw_only=True)

    columns = ("kind", "tasks", "share")
    drawn_by = "gnomon.plot.distillation:stability_figure"

    @classmethod
    def of(cls, chosen: Sequence[Sequence[str]]) -> Stability:
        """Count what was chosen.

        Examples
        --------
        >>> Stability.of([("u", "v"), ("v", "w"), ("v", "u")]).tasks
        (('v', 1.0), ('u', 0.6666666666666666), ('w', 0.3333333333333333))
        """
        n = len(chosen)
        counts: dict[Literal["task", "subset"], Counter[tuple[str, ...]]] = {
            "task": Counter((task,) for names in chosen for task in names),
            "subset": Counter(tuple(sorted(names)) for names in chosen),
        }
        records = (
            Choice(kind, names, count / n)
            for kind, counted in counts.items()
            for names, count in sorted(counted.items(), key=_by_frequency)
        )
        return cls(tuple(records), n_models=n)

    @property
    def tasks(self) -> tuple[tuple[str, float], ...]:
        """Each task with its share of the choices."""
        return tuple((one.tasks[0], one.share) for one in self if one.kind == "task")

    @property
    def sets(self) -> tuple[tuple[tuple[str, ...], float], ...]:
        """Each subset, tasks sorted, with its share of the choices."""
        return tuple((one.tasks, one.share) for one in self if one.kind == "subset")

    @property
    def committee(self) -> Committee | None:
        """The members, if some were fitted."""
        members = [(one.model, one.share) for one in self if one.model is not None]
        return Committee(*zip(*members, strict=True)) if members else None

    @property
    def stands_out(self) -> bool:
        """Whether one subset was chosen more often than not."""
        return self.sets[0][1] > 0.5

    @property
    def notes(self) -> tuple[str, ...]:
        """Whether one subset stands out, and the models of the committee."""
        word = "one subset stands out" if self.stands_out else "no single subset stands out"
        members = (f"  {one.model.formula}" for one in self if one.model is not None)
        n = len(self.sets)
        return (f"{n} different subsets in {self.n_models} draws: {word}", *members)

    def rows(self) -> list[Row]:
        """Return the most frequent tasks and subsets, and the members."""
        most = {"task": _TASKS_SHOWN * len(self.sets[0][0]), "subset": _SETS_SHOWN}
        kinds = {kind: self.where(kind=kind) for kind in ("task", "subset", "member")}
        return [one.as_record() for kind, some in kinds.items() for one in some[: most.get(kind)]]


def _by_frequency(item: tuple[Any, int]) -> tuple[int, Any]:
    """Sort by frequency, ties by name: the order in which workers finish must not show."""
    return -item[1], item[0]


def stability(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    procedure: str | Procedure = "factor",
    by: Drawn = "algorithms",
    samples: int = 100,
    committee: int = 0,
    rng: np.random.Generator | int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Stability:
    """Return how often each task would have been chosen from other algorithms, or with other folds.

    A sample is what a bootstrap draws, 63 % of the algorithms, without its copies: a copy in
    another fold would tell a cross-validation the answer.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size : int
        Number of tasks.
    procedure : str or Procedure
        What chooses; for ``fold-seeds`` it is the Atari-5 paper's.
    by : {"algorithms", "groups", "left-out-algorithms", "left-out-groups", "fold-seeds"}
        Random samples of algorithms or of whole groups (papers); all but one, in turn; or all with
        other folds, seeds 0 to `samples` - 1.
    samples : int
        How many draws; what is left out is left out once each.
    committee : int
        Fit so many of the most frequent subsets to all algorithms, to vote.
    rng : numpy.random.Generator or int, optional
        Of the samples, or its seed; seed 0 if not given.
    executor, progress
        As in :func:`gnomon.distillation.distillation.distill`; progress counts choices.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distillation.prepare` takes it.

    Returns
    -------
    Stability

    Raises
    ------
    ScoreDataError
        There are no groups, or fewer than two to leave out; or as
        :func:`gnomon.distillation.distillation.distill`.

    Examples
    --------
    >>> table = ScoreTable.from_arrays(
    ...     {f"a{i:02}": [[i, i % 7, (3 * i) % 5]] for i in range(20)}, tasks=["u", "v", "w"]
    ... )
    >>> found = stability(table, size=1, samples=10, transform="identity", summary="mean")
    >>> found.tasks[0]
    ('u', 1.0)
    """
    chooser = PaperProcedure() if by == "fold-seeds" else procedure_of(procedure)
    settings: dict[str, Any] = {"size": size, "procedure": chooser.name}
    settings |= {"by": by, "samples": samples}
    with recorded() as notes:
        data = prepare(scores, **preparation)
        if by.endswith("groups"):
            check_groups(data, f"stability by {by}")
        pieces = list(_pieces(data, chooser, size, by, samples, generator(rng)))
        counts = Stability.of(_chosen(pieces, executor, progress))
        votes = committee_of(data, chooser, counts, n_models=committee) if committee else None
    settings["preparation"] = list(data.record)
    members = zip(votes.models, votes.shares, strict=True) if votes else ()
    records = (*counts, *(Choice("member", m.tasks, share, m) for m, share in members))
    return Stability(records, made_by(rng, **settings), tuple(notes), n_models=counts.n_models)


def _pieces(
    data: PreparedScores,
    chooser: Procedure,
    size: int,
    by: Drawn,
    samples: int,
    rng: np.random.Generator,
) -> Iterator[_Piece]:
    """Yield the choices to make."""
    if by == "fold-seeds":
        for seed in range(samples):
            yield _Piece(data, PaperProcedure(folds=Folds(seed=seed)), size)
        return
    labels = np.array(data.groups if by.endswith("groups") else data.algorithms)
    units = np.unique(labels)
    if by.startswith("left-out"):
        if units.size < 2:
            raise ScoreDataError(f"expected at least 2 to leave out, found {units.size}")
        for unit in units:
            yield _Piece(data.rows(labels != unit), chooser, size)
        return
    n_drawn = max(1, round(_DISTINCT * units.size))
    for _ in range(samples):
        names = rng.choice(units, n_drawn, replace=False)
        yield _Piece(data.rows(np.isin(labels, names)), chooser, size)


@dataclass(frozen=True)
class Committee:
    """Several models that vote: the mean of their transformed estimates, weighted by their shares.

    Parameters
    ----------
    models : tuple of SubsetModel
    shares : tuple of float
        Sum to one.

    Examples
    --------
    >>> models = SubsetModel(("u",), (1.0,)), SubsetModel(("v",), (1.0,))
    >>> round(Committee(models, (0.75, 0.25)).estimate({"u": 99.0, "v": 9.0}), 3)
    55.234
    """

    models: tuple[SubsetModel, ...]
    shares: tuple[float, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """All tasks that some model needs."""
        return tuple(dict.fromkeys(task for model in self.models for task in model.tasks))

    def estimate(self, scores: Mapping[str, float]) -> float:
        """Estimate a summary by those models whose tasks all have scores.

        Raises
        ------
        ScoreDataError
            No model has them.
        """
        able = [
            (model, share)
            for model, share in zip(self.models, self.shares, strict=True)
            if set(model.tasks) <= set(scores)
        ]
        if not able:
            raise ScoreDataError(f"expected scores on all of {', '.join(self.models[0].tasks)}")
        transform = transform_of(able[0][0].transform)
        total = sum(share for _, share in able)
        mean = sum(
            share * float(model.predict(transform.forward(_row(model, scores))))
            for model, share in able
        )
        return float(transform.inverse(np.array(mean / total)))


def committee_of(
    data: PreparedScores, procedure: Procedure, stability: Stability, *, n_models: int = 5
) -> Committee:
    """Fit the most frequent subsets to all rows and let them vote by their frequency."""
    sets = stability.sets[:n_models]
    total = sum(share for _, share in sets)
    models = tuple(procedure.fit(data, tasks) for tasks, _ in sets)
    return Committee(models, tuple(share / total for _, share in sets))


def _row(model: SubsetModel, scores: Mapping[str, float]) -> FloatArray:
    return np.array([scores[task] for task in model.tasks], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Piece:
    data: PreparedScores
    procedure: Procedure
    size: int


def _choose(piece: _Piece) -> tuple[str, ...]:
    with warnings.catch_warnings():
        # What a sample alone lacks is no news of the table.
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        return piece.procedure.choose(piece.data, piece.size)[0]


def _chosen(
    pieces: Sequence[_Piece], executor: Executor | None, progress: Progress | None
) -> list[tuple[str, ...]]:
    chosen: list[tuple[str, ...]] = []
    what = "the choice from a sample of the algorithms"
    for _, tasks in completed(_choose, pieces, what, executor):
        chosen.append(tasks)
        if progress is not None:
            progress(len(chosen), len(pieces))
    return chosen
