"""Next task: what to run next, by the variance of the answer that it takes away for its cost.

Under a normal model the variance that remains does not depend on the scores, so the best list of
tasks is fixed beforehand; what adapts is the summary. A task on which an algorithm is far from its
median says nothing of it. Measured on the published Atari scores, the set that is chosen jointly
beats a choice one by one up to five tasks; from there on the choice one by one is better.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Unpack

import numpy as np

from gnomon.distillation.forecasts.forecast import Forecast
from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.procedures.factor import FactorProcedure
from gnomon.distillation.procedures.goals import check_costs
from gnomon.distillation.validation.cross_validation import nested_error
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable

#: Up to so many tasks a set that is chosen jointly beats a choice one by one.
_JOINT = 5
#: A smaller half width was not reached reliably on a table of 62 algorithms and 57 tasks.
_LEAST_PROMISED = 0.15


@dataclass(frozen=True)
class NextStep(FieldRecord):
    """What a task, or one more run of a task, would tell of the summary.

    Parameters
    ----------
    task : str
    kind : {"task", "run"}
    reduction : float
        Expected share of the variance of the answer that it takes away, between 0 and 1.
    cost : float
        1 where no cost is given.
    worth : float
        Reduction per cost.
    joint : bool
        Whether the task is in the set of five that is chosen jointly.
    """

    task: str
    kind: Literal["task", "run"]
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
        Those that it has.
    half_width : float
        Of its 90 % interval now, relative; NaN if it has no task.
    target : float
        Half width at which to stop.

    Examples
    --------
    >>> NextSteps((), algorithm="mine", tasks=("u",), half_width=0.2, target=0.25).stop
    True
    """

    algorithm: str = field(kw_only=True)
    tasks: tuple[str, ...] = field(kw_only=True)
    half_width: float = field(kw_only=True)
    target: float = field(kw_only=True)

    columns = ("task", "kind", "reduction", "cost", "worth", "joint")

    @property
    def stop(self) -> bool:
        """Whether the interval is as narrow as was asked for."""
        return self.half_width <= self.target

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known now, whether to stop, and how to read the list."""
        known = f"{self.algorithm}: {len(self.tasks)} tasks"
        if not math.isnan(self.half_width):
            known += f", 90 % interval of half width {self.half_width:.0%}"
        advice = "go on with the first of the list" if len(self) else "no task is left to run"
        advice = "stop: the target is reached" if self.stop else advice
        lines = [f"{known}; target {self.target:.0%}: {advice}"]
        if len(self.tasks) < _JOINT and len(self) and not self.stop:
            lines.append(
                f"up to {_JOINT} tasks run the set that is chosen jointly, in any order: it beats "
                "a choice one by one"
            )
        if self.target < _LEAST_PROMISED:
            lines.append(
                f"a half width below {_LEAST_PROMISED:.0%} cannot be promised: measured on 62 "
                "algorithms, such a target was met by fewer than it says"
            )
        return tuple(lines)


def next_steps(
    scores: ScoreTable | PreparedScores,
    algorithm: str,
    *,
    costs: Mapping[str, float] | None = None,
    target: float = 0.25,
    **preparation: Unpack[PreparationOptions],
) -> NextSteps:
    """Say which task, or further run, tells most of an algorithm's summary for its cost.

    All other algorithms of the table are the training. The suite is simulated given the tasks that
    the algorithm has; a task is worth the squared correlation of its simulated score with the
    simulated summary.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        The suite's table, with the few scores of the algorithm in it. Further runs are in the
        list if the table has several runs of most scores, so that their noise is known.
    algorithm : str
        One that is not in the table has no task yet.
    costs : mapping from task to float, optional
        Of one run of each task; all alike if not given.
    target : float
        Relative half width of the 90 % interval at which to stop.
    **preparation
        As :func:`gnomon.distillation.prepare` takes it.

    Returns
    -------
    NextSteps

    Raises
    ------
    ScoreDataError
        The target is not above 0, a cost is not, or there are too few other algorithms.
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
    with recorded() as notes:
        data = prepare(scores, **preparation)
        is_own = np.array([name == algorithm for name in data.algorithms])
        train = data.rows(~is_own)
        if not train.algorithms:
            raise ScoreDataError(
                f"expected other algorithms to learn from; found {algorithm} alone"
            )
        check_costs(costs or {}, data.tasks)
        names = FactorProcedure().covariance(train)[0]
        row = data.x[is_own][0] if is_own.any() else np.full(len(data.tasks), np.nan)
        own = {t: float(v) for t, v in zip(data.tasks, row, strict=True) if not np.isnan(v)}
        known = tuple(task for task in own if task in names)
        forecast, model = _now(train, known, own)
        steps = _steps(train, known, own, model, costs or {})
    half = float("nan")
    if forecast is not None and model is not None and model.forecaster is not None:
        low, high = forecast.interval(0.9, model.scale)
        half = (high - low) / 2 / model.forecaster.unit
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


def _now(
    train: PreparedScores, known: tuple[str, ...], own: Mapping[str, float]
) -> tuple[Forecast | None, SubsetModel | None]:
    """Return what the known tasks say, by a model whose scale is that of a validation of them."""
    if not known:
        return None, None
    procedure = FactorProcedure()
    model = procedure.with_spread(train, procedure.fit(train, known))
    rng = np.random.default_rng(0)
    folds = min(10, len(train.algorithms))
    held = nested_error(
        train, procedure, len(known), fixed=known, spread=True, n_folds=folds, rng=rng
    )
    model = replace(model, scale=held.scale)
    if model.forecaster is None:
        raise ScoreDataError("expected a suite of at most 1000 tasks, to simulate")
    return model.forecaster.forecast(np.array([own[task] for task in known])), model


def _steps(
    train: PreparedScores,
    known: tuple[str, ...],
    own: Mapping[str, float],
    model: SubsetModel | None,
    costs: Mapping[str, float],
) -> list[NextStep]:
    """Return what each task, and each further run, would take away, best first for its cost."""
    procedure = FactorProcedure()
    names, _ = procedure.covariance(train)
    suite = procedure.suite(train)
    place = suite.columns(known)
    suites = suite.suites(place, np.array([own[task] for task in known]), heavy=False)
    summaries = suite.summarized(suites)
    free = [task for task in names if task not in known]
    share = squared_correlations(suites[:, suite.columns(tuple(free))], summaries)
    joint = _joint(train, known)
    found: list[tuple[Literal["task", "run"], str, float]] = [
        ("task", task, float(s)) for task, s in zip(free, share, strict=True)
    ]
    if model is not None and train.run_noise is not None:
        n = train.run_noise.n_runs
        variance = np.array(train.run_noise.variances)[train.columns(known)]
        noise = np.array(model.weights) ** 2 * variance * (1.0 / n - 1.0 / (n + 1.0))
        shares = np.minimum(1.0, noise / (float(summaries.var()) + noise.sum())).tolist()
        found += [("run", task, s) for task, s in zip(known, shares, strict=True)]
    steps = [
        NextStep(task, kind, s, costs.get(task, 1.0), s / costs.get(task, 1.0), task in joint)
        for kind, task, s in found
    ]
    first = len(known) < _JOINT
    return sorted(steps, key=lambda one: (first and not one.joint, -one.worth))


def _joint(train: PreparedScores, known: tuple[str, ...]) -> frozenset[str]:
    """Return the tasks of the set of five that is chosen with those that are known in it."""
    if len(known) >= _JOINT:
        return frozenset()
    able = [task for task in known if task in train.candidates]
    size = min(_JOINT, len(train.candidates))
    return frozenset(FactorProcedure().choose(train, size, forced=able)[0]) - frozenset(known)


def squared_correlations(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the squared correlation of each column with y; 0 where either does not vary."""
    dx, dy = x - x.mean(axis=0), y - y.mean()
    product = np.sqrt((dx**2).sum(axis=0) * (dy**2).sum())
    return np.where(product > 0, dx.T @ dy / np.where(product > 0, product, 1.0), 0.0) ** 2
