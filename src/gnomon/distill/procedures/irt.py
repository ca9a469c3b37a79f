"""Item response theory as a baseline: an ability for each algorithm, a difficulty for each task.

The one- and the two-parameter logistic models for scores between 0 and 1 (a score is a share of
passed items), fitted by maximum a posteriori. The summary is one more item, so that an ability from
a few tasks predicts it. Tasks are chosen by the information that they give on the abilities of the
training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from gnomon.distill.models import SubsetModel
from gnomon.distill.preparation.prepared import PreparedScores, transform_of
from gnomon.distill.procedures.procedure import ChoiceOptions, ChoiceSettings, Procedure, Subsets
from gnomon.distill.search.plan import free_tasks
from gnomon.errors import ScoreDataError
from gnomon.scores.table import FloatArray

_EDGE = 0.02
_logistic = transform_of("logit").inverse


@dataclass(frozen=True, eq=False)
class ItemResponseModel:
    """Fitted abilities and items: P(a passes j) = logistic(slope_j (ability_a - difficulty_j)).

    Parameters
    ----------
    ability : ndarray of float, shape (algorithms,)
    difficulty, slope : ndarray of float, shape (items,)
    low, high : ndarray of float, shape (items,)
        Scores that count as 0 and 1.
    """

    ability: FloatArray
    difficulty: FloatArray
    slope: FloatArray
    low: FloatArray
    high: FloatArray

    def information(self) -> FloatArray:
        """Return the mean Fisher information of each item over the abilities."""
        p = _logistic(self.slope * (self.ability[:, np.newaxis] - self.difficulty))
        return np.asarray((self.slope**2 * p * (1.0 - p)).mean(axis=0))


def fit_item_response(
    x: FloatArray, *, n_parameters: int = 2, n_iterations: int = 40
) -> ItemResponseModel:
    """Fit abilities and items to scores by maximum a posteriori.

    Priors: abilities normal(0, 1), difficulties normal(0, 2), log slopes normal(0, 1/2). Gaps are
    left out. Newton steps alternate between abilities and items.

    Parameters
    ----------
    x : ndarray of float, shape (algorithms, items)
        Scores in any unit; each item is scaled to lie between 0.02 and 0.98.
    n_parameters : {1, 2}
        With one, all items have the slope 1.

    Returns
    -------
    ItemResponseModel

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = np.linspace(-2, 2, 40)
    >>> p = 1 / (1 + np.exp(-(skill[:, np.newaxis] - [-1.0, 0.0, 1.0])))
    >>> fitted = fit_item_response(p, n_parameters=1)
    >>> bool(np.corrcoef(fitted.ability, skill)[0, 1] > 0.99)
    True
    """
    seen = ~np.isnan(x)
    low = np.where(seen, x, np.inf).min(axis=0)
    high = np.where(seen, x, -np.inf).max(axis=0)
    r = _responses(x, low, high)
    ability = np.zeros(len(x))
    difficulty, log_slope = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for _ in range(n_iterations):
        slope = np.exp(log_slope)
        p = _logistic(slope * (ability[:, np.newaxis] - difficulty))
        miss, spread = np.where(seen, r - p, 0.0), np.where(seen, p * (1 - p), 0.0)
        step = (miss @ slope - ability) / (spread @ slope**2 + 1.0)
        ability = ability + np.clip(step, -1.0, 1.0)
        p = _logistic(slope * (ability[:, np.newaxis] - difficulty))
        miss, spread = np.where(seen, r - p, 0.0), np.where(seen, p * (1 - p), 0.0)
        step = (-slope * miss.sum(axis=0) - difficulty / 4.0) / (
            slope**2 * spread.sum(axis=0) + 0.25
        )
        difficulty = difficulty + np.clip(step, -1.0, 1.0)
        if n_parameters == 2:
            u = slope * (ability[:, np.newaxis] - difficulty)
            p = _logistic(u)
            miss, spread = np.where(seen, r - p, 0.0), np.where(seen, p * (1 - p), 0.0)
            step = ((miss * u).sum(axis=0) - 4.0 * log_slope) / ((spread * u * u).sum(axis=0) + 4.0)
            log_slope = log_slope + np.clip(step, -0.5, 0.5)
    return ItemResponseModel(ability, difficulty, np.exp(log_slope), low, high)


@dataclass(frozen=True)
class ItemResponseProcedure(Procedure):
    """Chooses the most informative tasks; predicts by the ability that they show.

    The curve from the scores of the subset to the summary is not a line; it is approximated by the
    least squares line through the training, which a :class:`SubsetModel` can keep.

    Parameters
    ----------
    n_parameters : {1, 2}
    """

    n_parameters: int = 2

    @property
    def name(self) -> str:
        """What it is called."""
        return f"irt-{self.n_parameters}"

    def choose(self, data: PreparedScores, size: int, **options: Unpack[ChoiceOptions]) -> Subsets:
        """Return the most informative tasks; there is one best subset only."""
        forced = ChoiceSettings(**options).forced
        free = free_tasks(data.candidates, data.tasks, size, forced=forced)
        x = data.x[:, data.columns(free)]
        seen = (~np.isnan(x)).mean(axis=0)
        fitted = fit_item_response(
            np.column_stack([x, data.target]), n_parameters=self.n_parameters
        )
        # A task that few algorithms have tells nothing of the others.
        order = np.argsort(-fitted.information()[:-1] * seen, kind="stable")
        return ((*forced, *sorted(free[i] for i in order[: size - len(forced)])),)

    def fit(self, data: PreparedScores, tasks: Sequence[str]) -> SubsetModel:
        """Return the line through the abilities that the subset alone shows."""
        columns = data.columns(tasks)
        x = data.x[:, columns]
        whole = ~np.isnan(x).any(axis=1)
        if whole.sum() < len(tasks) + 1:
            raise ScoreDataError(
                f"expected at least {len(tasks) + 1} algorithms with scores on "
                f"{', '.join(tasks)}; found {whole.sum()}"
            )
        fitted = fit_item_response(
            np.column_stack([data.x[:, data.columns(data.candidates)], data.target]),
            n_parameters=self.n_parameters,
        )
        place = [data.candidates.index(task) for task in tasks]
        ability = _abilities(x[whole], fitted, place)
        summary = _logistic(fitted.slope[-1] * (ability - fitted.difficulty[-1]))
        share = (summary - _EDGE) / (1.0 - 2.0 * _EDGE)
        predicted = fitted.low[-1] + share * (fitted.high[-1] - fitted.low[-1])
        design = np.column_stack([x[whole], np.ones(whole.sum())])
        line = np.linalg.lstsq(design, predicted, rcond=None)[0]
        kept = x[whole], data.target[whole]
        return SubsetModel.of_fit(tasks, line[:-1], float(line[-1]), *kept, data.transform.name)


def expected_scores(fitted: ItemResponseModel, x: FloatArray, seen: Sequence[int]) -> FloatArray:
    """Return all scores by the ability that some items show; what was seen is as it is (p-IRT).

    Parameters
    ----------
    fitted : ItemResponseModel
    x : ndarray of float, shape (algorithms, items seen)
        Scores in the unit of the training, NaN where missing.
    seen : sequence of int
        Which items these are.

    Returns
    -------
    ndarray of float, shape (algorithms, items)

    Examples
    --------
    >>> x = np.outer(np.arange(6.0), np.ones(3))
    >>> said = expected_scores(fit_item_response(x), np.array([[1.0], [4.0]]), [0])
    >>> said.round(1)[:, 0], bool((said[0] < said[1]).all())
    (array([1., 4.]), True)
    """
    ability = _abilities(x, fitted, seen)
    p = _logistic(fitted.slope * (ability[:, np.newaxis] - fitted.difficulty))
    said = fitted.low + (p - _EDGE) / (1.0 - 2.0 * _EDGE) * (fitted.high - fitted.low)
    said[:, seen] = np.where(np.isnan(x), said[:, seen], x)
    return np.asarray(said)


def _abilities(x: FloatArray, fitted: ItemResponseModel, place: Sequence[int]) -> FloatArray:
    """Return the abilities that some items alone show, items held fixed."""
    seen, r = ~np.isnan(x), _responses(x, fitted.low[place], fitted.high[place])
    slope, difficulty = fitted.slope[place], fitted.difficulty[place]
    ability = np.zeros(len(x))
    for _ in range(20):
        p = _logistic(slope * (ability[:, np.newaxis] - difficulty))
        step = ((seen * (r - p)) @ slope - ability) / ((seen * p * (1 - p)) @ slope**2 + 1.0)
        ability = ability + np.clip(step, -1.0, 1.0)
    return ability


def _responses(x: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    width = np.where(high > low, high - low, 1.0)
    share = np.clip((x - low) / width, 0.0, 1.0)
    return np.where(np.isnan(x), 0.5, _EDGE + (1.0 - 2.0 * _EDGE) * share)
