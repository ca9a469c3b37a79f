"""Comparison of two algorithms by a few tasks: the probability that the one is better on all.

The errors of two estimates go together where the algorithms are alike, and what extrapolates the
one extrapolates the other; both count. How far such probabilities are to be trusted is measured on
the pairs of a nested validation: :func:`reliability`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import nan
from typing import TYPE_CHECKING, Unpack

import numpy as np

from gnomon.distill.distillation import distill
from gnomon.distill.distilled import Distillation
from gnomon.distill.forecasts.pairs import (
    DECIDED,
    SubsetComparison,
    compare_forecasts,
    comparison_of,
)
from gnomon.distill.forecasts.prediction import (
    assumed_noise,
    known_scores,
    references_for,
    run_counts,
)
from gnomon.distill.models import SubsetModel
from gnomon.distill.preparation.preparation import PreparationOptions
from gnomon.distill.preparation.prepared import PreparedScores, References
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.common_steps import at_common_step
from gnomon.scores.table import FloatArray, ScoreTable

if TYPE_CHECKING:
    from gnomon.distill.distillation import Nested
    from gnomon.distill.validation.cross_validation import HeldOut

#: The classes of what was said, in which it is counted what came true.
_CLASSES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class SubsetComparisons(Results[SubsetComparison]):
    """Comparisons of pairs of algorithms by a few tasks.

    Examples
    --------
    >>> one = SubsetComparison("a", "b", 0.97, 0.2, 0.02, 0.38, 0.9, "a")
    >>> SubsetComparisons((one,), {"transform": "log"})[0].verdict
    'a'
    """

    columns = ("a", "b", "probability", "difference", "low", "high", "verdict")

    @property
    def notes(self) -> tuple[str, ...]:
        """How to read the difference."""
        kind = self.settings.get("transform")
        meaning = {"log": "of log10(1 + summary): 0.1 is a quarter more"}.get(
            str(kind), f"({kind})"
        )
        return (f"probability that a is better on the full suite; difference {meaning}",)


def compare(
    model: SubsetModel,
    a: str,
    b: str,
    scores: ScoreTable,
    *,
    references: References | None = None,
    normalized: bool = False,
    runs: int | None = None,
    level: float = 0.9,
) -> SubsetComparisons:
    """Say which of two algorithms is better on the full suite, from the few tasks of a model.

    Parameters
    ----------
    model : SubsetModel
    a, b : str
        Algorithms of the table, which may have different tasks of the model.
    scores : ScoreTable
    references, normalized, runs
        As in :func:`gnomon.distill.forecasts.prediction.predict`.
    level : float
        Of the interval of the difference.

    Raises
    ------
    ScoreDataError
        An algorithm has none of the tasks, or the model has a line alone.
    UnknownNameError
        An algorithm is not in the table.

    Examples
    --------
    >>> from gnomon.distill import distill
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (40, 1)) + rng.normal(0, 0.3, (40, 8))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> model = distill(table, size=3, transform="identity").model
    >>> compare(model, "a00", "a01", table)[0].verdict
    'a00'
    """
    table = at_common_step(scores)
    ends = references_for(model, table, references, normalized=normalized)
    with recorded() as notes:
        pair = []
        for name in (a, b):
            if name not in table.algorithms:
                raise UnknownNameError("algorithm", name, table.algorithms)
            known = known_scores(table, name, model, ends)
            counts = run_counts(table, name, model, runs)
            pair.append(model.forecast(known, runs=counts))
    found = comparison_of(pair[0], pair[1], (a, b), scale=model.scale, level=level)
    settings = {"tasks": list(model.tasks), "level": level, "transform": model.transform}
    told = (*notes, *assumed_noise(model, table, runs))
    return SubsetComparisons((found,), settings, told)


@dataclass(frozen=True)
class PairReliability(FieldRecord):
    """How often the one said to be better was, of pairs with about the same probability said.

    Parameters
    ----------
    low, high : float
        Ends of the class of probabilities.
    n_pairs : int
    said, came_true : float
        Mean probability of the better one, and the share of the pairs in which it was better.
    """

    low: float
    high: float
    n_pairs: int
    said: float
    came_true: float


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(Results[PairReliability]):
    """How far probabilities of being better are to be trusted, of algorithms that were held out.

    Parameters
    ----------
    brier, sign_brier : float
        Mean squared error of the probabilities; and of saying 1 for whoever has the greater
        estimate.
    right : float
        Share of the pairs in which the greater estimate was the better algorithm.
    undecided : float
        Share of the pairs of which the probability is below 0.9.

    Examples
    --------
    >>> row = PairReliability(0.5, 0.6, 40, 0.55, 0.57)
    >>> Reliability((row,), brier=0.2, sign_brier=0.4, right=0.6, undecided=1.0)[0].n_pairs
    40
    """

    brier: float = field(kw_only=True)
    sign_brier: float = field(kw_only=True)
    right: float = field(kw_only=True)
    undecided: float = field(kw_only=True)

    drawn_by = "gnomon.plot.distillation:reliability_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """The scores in words."""
        return (
            f"Brier score {self.brier:.3f}, of the order alone {self.sign_brier:.3f}; "
            f"{self.right:.1%} of the pairs in the right order, {self.undecided:.0%} undecided",
        )


def pair_probabilities(held: HeldOut, *, scale: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """Return of each pair of held-out algorithms P(the first is better), and 1 if it was, else 0.

    Pairs with the same summary are left out.
    """
    said, was = [], []
    for told in held.forecasts:
        known = [(f, y) for f, y in zip(told, held.target, strict=True) if f is not None]
        known = [(f, y) for f, y in known if not np.isnan(f.center)]
        for i, (a, y_a) in enumerate(known):
            for b, y_b in known[:i]:
                if y_a != y_b:
                    said.append(compare_forecasts(a, b, scale=scale)[0])
                    was.append(float(y_a > y_b))
    return np.array(said), np.array(was)


def reliability_of(held: HeldOut, *, scale: float = 1.0) -> Reliability:
    """Return how far the probabilities of a nested validation are to be trusted.

    Raises
    ------
    ScoreDataError
        No prediction says how unsure it is.
    """
    said, was = pair_probabilities(held, scale=scale)
    if not said.size:
        raise ScoreDataError("expected predictions that say how unsure they are: use factor")
    better, true = np.maximum(said, 1 - said), np.where(said >= 0.5, was, 1 - was)
    rows = []
    for low, high in pairwise(_CLASSES):
        inside = (better >= low) & ((better < high) | (high == 1.0))
        n = int(inside.sum())
        means = (float(better[inside].mean()), float(true[inside].mean())) if n else (nan, nan)
        rows.append(PairReliability(low, high, n, *means))
    return Reliability(
        tuple(rows),
        {"scale": scale},
        brier=float(np.mean((said - was) ** 2)),
        sign_brier=float(np.mean(1.0 - true)),
        right=float(np.mean(true)),
        undecided=float(np.mean(better < DECIDED)),
    )


def reliability(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    nested: Nested = "folds",
    folds: int = 10,
    repeats: int = 1,
    rng: np.random.Generator | int | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Reliability:
    """Say how often the algorithm that a few tasks call the better one is better on all.

    Every algorithm is predicted by tasks and weights that were chosen without it, and all pairs
    are compared.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    size, nested, folds, repeats, rng
        As in :func:`gnomon.distill.distillation.distill`.
    **preparation
        As :func:`gnomon.distill.prepare` takes it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (40, 1)) + rng.normal(0, 0.3, (40, 8))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> reliability(table, size=3, transform="identity").brier < 0.05
    True
    """
    found = distill(
        scores, size=size, nested=nested, folds=folds, repeats=repeats, rng=rng, **preparation
    )
    if not isinstance(found, Distillation):
        raise ScoreDataError("reliability is of tasks; of items, see how wide the intervals are")
    if found[0].nested is None:
        raise ScoreDataError("expected a nested validation; nested is none")
    return reliability_of(found[0].nested, scale=found.model.scale)
