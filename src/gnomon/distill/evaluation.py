"""Evaluation of a subset of tasks: the variance of every task that it explains, and fairness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from gnomon.distill.models import SubsetModel
from gnomon.distill.preparation.preparation import PreparationOptions, prepare
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import fit_least_squares
from gnomon.distill.procedures.procedure import Procedure
from gnomon.distill.procedures.registry import procedure_of
from gnomon.distill.validation.cross_validation import HeldOut, cross_validate
from gnomon.distill.work import Progress
from gnomon.errors import ScoreDataError
from gnomon.results import FieldRecord, Results, recorded
from gnomon.scores.table import FloatArray, ScoreTable


@dataclass(frozen=True)
class ExplainedTask:
    """How well a subset predicts one task: least squares with intercept, in-sample.

    Parameters
    ----------
    task : str
    r2 : float
        On the algorithms that have the task and the subset; 1 for the subset's own.
    model : SubsetModel
    """

    task: str
    r2: float
    model: SubsetModel

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        model = self.model
        record = {"task": self.task, "r2": self.r2, "intercept": model.intercept}
        return record | {"weights": list(model.weights), "n_rows": model.n_rows}


@dataclass(frozen=True, eq=False, repr=False)
class ExplainedTasks(Results[ExplainedTask]):
    """How well a subset predicts every task, best first, and all of them together.

    Parameters
    ----------
    subset : tuple of str
    explained, explained_others : float
        Share of the variance of all tasks pooled; and without the tasks of the subset, which
        explain themselves. NaN if there is none.

    Examples
    --------
    >>> from gnomon.scores import load_scores
    >>> table = load_scores("gohr-full")
    >>> found = explained(table, ["two-a-bucket"], transform="identity", summary="mean")
    >>> round(found.explained_others, 2), found[1].task
    (0.84, 'three-a-bucket')
    """

    subset: tuple[str, ...] = field(kw_only=True)
    explained: float = field(kw_only=True)
    explained_others: float = field(kw_only=True)

    drawn_by = "gnomon.plot.distillation:explained_figure"

    @property
    def models(self) -> Mapping[str, SubsetModel]:
        """The model of each task."""
        return {one.task: one.model for one in self}

    @property
    def r2(self) -> Mapping[str, float]:
        """The explained share of the variance of each task, best first."""
        return {one.task: one.r2 for one in self}

    @property
    def notes(self) -> tuple[str, ...]:
        """The pooled shares, if there are other tasks."""
        if len(self.subset) == len(self):
            return ()
        return (
            f"from {', '.join(self.subset)}: {self.explained:.1%} of the variance of all tasks, "
            f"{self.explained_others:.1%} of the others; in-sample",
        )


@dataclass(frozen=True)
class FairnessTest(FieldRecord):
    """Whether two groups of algorithms differ in the error of their estimates.

    Parameters
    ----------
    a, b : str
        ``low``, ``middle`` or ``high``: tertiles by the true summary.
    measure : str
        ``accuracy`` compares the sizes of relative errors, ``bias`` the errors.
    mean_a, mean_b : float
    welch_p, wilcoxon_p : float
        Two-sided; the second is the rank-sum test.
    """

    a: str
    b: str
    measure: str
    mean_a: float
    mean_b: float
    welch_p: float
    wilcoxon_p: float


@dataclass(frozen=True, eq=False, repr=False)
class Fairness(Results[FairnessTest]):
    """Whether low, middle and high algorithms are estimated equally well.

    Parameters
    ----------
    subset : tuple of str
    data : PreparedScores
    held : HeldOut
        Each algorithm predicted without its fold.
    """

    subset: tuple[str, ...] = field(kw_only=True)
    data: PreparedScores = field(kw_only=True)
    held: HeldOut = field(kw_only=True)

    drawn_by = "gnomon.plot.distillation:fairness_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """From which tasks the estimates are."""
        return (f"from {', '.join(self.subset)}; each algorithm predicted without its fold",)


def explained(
    scores: ScoreTable | PreparedScores,
    task: Sequence[str] = (),
    *,
    size: int = 5,
    procedure: str | Procedure = "factor",
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> ExplainedTasks:
    """Predict every task from a subset, and say how much of each that explains.

    Every task is fitted to the subset with intercept, in-sample (figure 4, tables 10 and 11 of the
    Atari-5 paper).

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    task : sequence of str
        The tasks of the subset; if none is named, a procedure chooses them.
    size : int
        How many it chooses.
    procedure : str or Procedure
    progress : function of (done, all), optional
        Told of the subsets searched.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distill.prepare` takes it.

    Returns
    -------
    ExplainedTasks

    Raises
    ------
    ScoreDataError
        A task is named twice, or there are too few algorithms with scores on the subset.
    UnknownNameError
        A task is not in the table.

    Examples
    --------
    >>> table = ScoreTable.from_arrays({"a": [[1, 2]], "b": [[2, 4]], "c": [[3, 7]]})
    >>> found = explained(table, ["task_0"], transform="identity")
    >>> [(one.task, round(one.r2, 3)) for one in found]
    [('task_0', 1.0), ('task_1', 0.987)]
    """
    with recorded() as notes:
        data = prepare(scores, **preparation)
        subset = _subset(data, task, size, procedure, progress)
    columns = data.columns(subset)
    found, residual, total = [], {}, {}
    for name in data.tasks:
        y = data.x[:, data.tasks.index(name)]
        model = fit_least_squares(
            data, subset, target=y, target_name=name, intercept=True, weights="any"
        )
        whole = ~np.isnan(data.x[:, columns]).any(axis=1) & ~np.isnan(y)
        error = y[whole] - model.predict(data.x[whole][:, columns])
        residual[name] = float(error @ error)
        total[name] = float(((y[whole] - y[whole].mean()) ** 2).sum())
        r2 = 1.0 - residual[name] / total[name] if total[name] else float("nan")
        found.append(ExplainedTask(name, r2, model))
    others = [name for name in data.tasks if name not in subset]
    return ExplainedTasks(
        tuple(sorted(found, key=lambda one: -one.r2)),
        {"subset": list(subset)},
        tuple(notes),
        subset=subset,
        explained=_explained(residual, total, data.tasks),
        explained_others=_explained(residual, total, others),
    )


def _explained(
    residual: Mapping[str, float], total: Mapping[str, float], tasks: Sequence[str]
) -> float:
    """Return the pooled share of the variance of some tasks; NaN if there is none."""
    whole = sum(total[task] for task in tasks)
    return 1.0 - sum(residual[task] for task in tasks) / whole if whole else float("nan")


def fairness(
    scores: ScoreTable | PreparedScores,
    task: Sequence[str] = (),
    *,
    size: int = 5,
    procedure: str | Procedure = "factor",
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Fairness:
    """Compare the errors of low, middle and high algorithms (section 5.4 of the Atari-5 paper).

    Each algorithm is predicted from the subset by a model whose weights were fitted without it.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
    task : sequence of str
        The tasks of the subset; if none is named, the procedure chooses them.
    size : int
        How many it chooses.
    procedure : str or Procedure
        What fits the models, too.
    progress : function of (done, all), optional
        Told of the subsets searched.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distill.prepare` takes it.

    Returns
    -------
    Fairness
        Of each pair of thirds, accuracy and bias.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms in a third, or as :func:`explained`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(3, 1, (30, 1)) + rng.normal(0, 0.5, (30, 4))
    >>> table = ScoreTable.from_arrays({f"a{i:02}": [row] for i, row in enumerate(rows)})
    >>> [(t.a, t.b) for t in fairness(table, size=2, transform="identity").where(measure="bias")]
    [('low', 'middle'), ('low', 'high'), ('middle', 'high')]
    """
    chooser = procedure_of(procedure)
    with recorded() as notes:
        data = prepare(scores, **preparation)
        subset = _subset(data, task, size, chooser, progress)
        held = cross_validate(data, chooser, subset)
    tests = fairness_tests(data.target + held.residuals[0], data.target, held.relative[0])
    settings = {"subset": list(subset), "procedure": chooser.name}
    return Fairness(tuple(tests), settings, tuple(notes), subset=subset, data=data, held=held)


def _subset(
    data: PreparedScores,
    tasks: Sequence[str],
    size: int,
    procedure: str | Procedure,
    progress: Progress | None,
) -> tuple[str, ...]:
    """Return the tasks that were named, or those that a procedure chooses."""
    if not tasks:
        return procedure_of(procedure).choose(data, size, progress=progress)[0]
    data.columns(tasks)
    if len(set(tasks)) < len(tasks):
        raise ScoreDataError(f"expected different tasks, found {', '.join(tasks)}")
    return tuple(tasks)


def thirds(predicted: FloatArray, true: FloatArray) -> dict[str, npt.NDArray[np.int64]]:
    """Return the low, middle and high algorithms by the true summary, of those predicted."""
    whole = np.flatnonzero(~(np.isnan(predicted) | np.isnan(true)))
    order = whole[np.argsort(true[whole], kind="stable")]
    return dict(zip(("low", "middle", "high"), np.array_split(order, 3), strict=True))


def fairness_tests(
    predicted: FloatArray, true: FloatArray, relative: FloatArray
) -> list[FairnessTest]:
    """Compare the errors of low, middle and high algorithms (figure 3, section 5.4).

    Parameters
    ----------
    predicted, true : ndarray of float, shape (algorithms,)
        Summaries; NaN in `predicted` leaves an algorithm out.
    relative : ndarray of float, shape (algorithms,)
        Signed relative errors.

    Returns
    -------
    list of FairnessTest
        Of each pair of tertiles, accuracy and bias.

    Raises
    ------
    ScoreDataError
        There are fewer than two algorithms in a third.
    """
    from scipy.stats import ranksums, ttest_ind

    groups = thirds(predicted, true)
    fewest = min(index.size for index in groups.values())
    if fewest < 2:
        raise ScoreDataError(
            f"expected at least 6 predicted algorithms for three groups, found "
            f"{sum(index.size for index in groups.values())}"
        )
    tests = []
    for measure in ("accuracy", "bias"):
        errors = np.abs(relative) if measure == "accuracy" else relative
        for a, b in (("low", "middle"), ("low", "high"), ("middle", "high")):
            x, y = errors[groups[a]], errors[groups[b]]
            welch = float(ttest_ind(x, y, equal_var=False).pvalue)
            ranks = float(ranksums(x, y).pvalue)
            tests.append(
                FairnessTest(a, b, measure, float(x.mean()), float(y.mean()), welch, ranks)
            )
    return tests
