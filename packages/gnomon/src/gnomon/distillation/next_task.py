"""Next task: what to run next, by the variance of the answer that it removes for its cost.

The suite is simulated given the scores known; the variance that a task removes is its squared
correlation with the summary. The first five tasks are chosen jointly instead, as a set predicts
better than as many tasks added one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepare
from gnomon.distillation.procedures import FactorProcedure, check_costs
from gnomon.distillation.validation import nested_error
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: Up to the default size of :func:`gnomon.distill`, tasks are chosen jointly.
_JOINT = 5


@dataclass(frozen=True)
class NextStep(FieldRecord):
    """How much a task would show about the summary.

    `reduction` is the expected share of the variance of the answer that it removes, `worth` the
    reduction per cost, `joint` whether the task is in the set of five that is chosen jointly.
    """

    task: str
    reduction: float
    cost: float
    worth: float
    joint: bool


@dataclass(frozen=True, eq=False, repr=False)
class NextSteps(Results[NextStep]):
    """What to run next for one algorithm, best first, and whether to stop.

    Parameters
    ----------
    algorithm : str
    tasks : tuple of str
        Those already run.
    half_width : float
        Relative half width of the present 90 % interval; NaN without a task.
    target : float
        Half width at which to stop.
    """

    algorithm: str = field(kw_only=True)
    tasks: tuple[str, ...] = field(kw_only=True)
    half_width: float = field(kw_only=True)
    target: float = field(kw_only=True)

    @property
    def stop(self) -> bool:
        """Whether the interval is narrow enough."""
        return self.half_width <= self.target

    @property
    def notes(self) -> tuple[str, ...]:
        """The present interval, whether to stop, and how to read the list."""
        known = f"{self.algorithm}: {len(self.tasks)} tasks"
        if not math.isnan(self.half_width):
            known += f", 90 % interval of half width {self.half_width:.0%}"
        advice = "run the first task of the list" if len(self) else "no task is left to run"
        advice = "stop: the target is reached" if self.stop else advice
        lines = [f"{known}; target {self.target:.0%}: {advice}"]
        if len(self.tasks) < _JOINT and len(self) and not self.stop:
            lines.append(f"run the jointly chosen tasks first, up to {_JOINT} in any order")
        return tuple(lines)


def next_steps(
    scores: ScoreTable | PreparedScores,
    algorithm: str,
    *,
    costs: Mapping[str, float] | None = None,
    target: float = 0.25,
    **preparation: Unpack[PreparationOptions],
) -> NextSteps:
    """Recommend the next task to run for an algorithm: most information per unit of cost.

    All other algorithms of the table are the training. The suite is simulated given the tasks
    already run; the worth of a task is the squared correlation of its simulated score with the
    simulated summary, divided by its cost.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        The suite's table, with the few scores of the algorithm in it.
    algorithm : str
        An algorithm that is not in the table has no task yet.
    costs : mapping from task to float, optional
        Of one run of each task; 1 if not given.
    target : float
        Relative half width of the 90 % interval at which to stop.
    **preparation
        The options of :func:`gnomon.distillation.prepare`.

    Raises
    ------
    ScoreDataError
        The target or a cost is not above 0, or there are too few other algorithms.
    UnknownNameError
        A cost is of an unknown task.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (40, 1)) + rng.normal(0, 0.3, (40, 8))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> found = next_steps(table, "new", transform="identity")
    >>> found[0].joint, found.stop
    (True, False)
    """
    if not target > 0:
        raise ScoreDataError(f"expected a target half width above 0, found {target:g}")
    procedure, costs = FactorProcedure(), costs or {}
    with recorded() as notes:
        data = prepare(scores, **preparation)
        is_own = np.array([name == algorithm for name in data.algorithms])
        train = data.rows(~is_own)
        if not train.algorithms:
            raise ScoreDataError(
                f"expected other algorithms to learn from; {algorithm} is the only one"
            )
        check_costs(costs, data)
        names = procedure.moments(train)[0]
        row = data.x[is_own][0] if is_own.any() else np.full(len(data.tasks), np.nan)
        own = dict(zip(data.tasks, row.tolist(), strict=True))
        known = tuple(task for task in data.tasks if own[task] == own[task] and task in names)
        x = np.array([own[task] for task in known])
        model = _model_of(train, known) if known else None
        steps = _steps(train, known, x, costs)
    half = math.nan
    if model is not None and model.forecaster is not None:
        low, high = model.forecaster.forecast(x).interval(0.9, model.scale)
        base = train.transform.log_base
        unit = 1.0 / math.log(base) if base else float(np.std(train.target))
        half = (high - low) / 2 / unit
    settings = {"target": target, "n_training": len(train.algorithms)}
    return NextSteps(
        tuple(steps),
        settings,
        tuple(notes),
        algorithm=algorithm,
        tasks=known,
        half_width=half,
        target=target,
    )


def _model_of(train: PreparedScores, known: tuple[str, ...]) -> SubsetModel:
    """Return the model of the tasks already run, with the scale of its validation."""
    procedure, n_folds = FactorProcedure(), min(10, len(train.algorithms))
    rng = np.random.default_rng(0)
    held = nested_error(
        train, procedure, len(known), forced=known, spread=True, n_folds=n_folds, rng=rng
    )
    return replace(procedure.fit(train, known, spread=True), scale=held.scale)


def _steps(
    train: PreparedScores,
    known: tuple[str, ...],
    x: FloatArray,
    costs: Mapping[str, float],
) -> list[NextStep]:
    """Return how much each task would remove, best first for its cost."""
    procedure = FactorProcedure()
    suite, names = procedure.suite(train), procedure.moments(train)[0]
    suites = suite.suites(suite.columns(known), x, heavy=False)
    summaries = suite.summarized(suites)
    free = [task for task in names if task not in known]
    share = squared_correlations(suites[:, suite.columns(free)], summaries)
    joint: set[str] = set()
    if len(known) < _JOINT:
        able = [task for task in known if task in train.candidates]
        size = min(_JOINT, len(train.candidates))
        joint = {*procedure.choose(train, size, forced=able)[0]} - {*known}
    steps = [
        NextStep(task, s, costs.get(task, 1.0), s / costs.get(task, 1.0), task in joint)
        for task, s in zip(free, share.tolist(), strict=True)
    ]
    first = len(known) < _JOINT
    return sorted(steps, key=lambda one: (first and not one.joint, -one.worth))


def squared_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the squared correlation of each column with y; 0 where either does not vary."""
    dx, dy = x - x.mean(axis=0), y - y.mean()
    product = np.sqrt((dx**2).sum(axis=0) * (dy**2).sum())
    return np.where(product > 0, dx.T @ dy / np.where(product > 0, product, 1.0), 0.0) ** 2
