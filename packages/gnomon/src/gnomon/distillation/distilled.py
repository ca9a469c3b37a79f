"""Distillation of a suite: the chosen tasks with their plain and their nested error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import isnan, log, nan
from typing import Any, ClassVar, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import PreparationOptions, PreparedScores, prepared_scores
from gnomon.distillation.procedures import Procedure, procedure_of
from gnomon.distillation.search import Progress, check_forced
from gnomon.distillation.validation import FEW, HeldOut, check_folds, cross_validate, nested_error
from gnomon.errors import ScoreDataError, note
from gnomon.results import Results, finite_or_none, generator, made_by, recorded
from gnomon.scores.reading import Scores

#: With fewer families, the error for another family cannot be estimated.
_FEW_FAMILIES = 10
#: Relative errors mean little for a summary that is a smaller share of the largest one.
_NEARLY = 0.01


@dataclass(frozen=True)
class Distilled:
    """A subset of tasks with its errors.

    `cv_mse`, `r2` and `relative_error` are cross-validated with these tasks given, on the `n_rows`
    algorithms with scores on all tasks. `nested` predicts algorithms by tasks chosen without them,
    `later` each year from the years before, and `families` each group from the others.
    """

    procedure: str
    model: SubsetModel
    cv_mse: float
    r2: float
    relative_error: float
    n_rows: int
    nested: HeldOut
    later: HeldOut | None = None
    families: HeldOut | None = None

    @property
    def nested_relative_error(self) -> float:
        """The relative error with tasks chosen without the predicted algorithms."""
        return self.nested.relative_error

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        model, nested, later, families = self.model, self.nested, self.later, self.families
        record = {
            "procedure": self.procedure,
            "tasks": model.tasks,
            "weights": model.weights,
            "intercept": model.intercept,
            "cv_mse": self.cv_mse,
            "r2": self.r2,
            "relative_error": self.relative_error,
            "nested_relative_error": self.nested_relative_error,
            "next_relative_error": later and later.relative_error,
            "family_relative_error": families and families.relative_error,
            "n_predicted": nested.n_predicted,
            "coverage": nested.coverage(scale=model.scale),
            "next_coverage": later and later.coverage(scale=model.scale),
            "family_coverage": families and families.coverage(scale=model.scale),
            "concordance": nested.concordance,
            "n_rows": self.n_rows,
        }
        return {name: finite_or_none(value) for name, value in record.items()}


@dataclass(frozen=True, eq=False, repr=False)
class Distillation(Results[Distilled]):
    """The subset that a procedure chose, with its errors, and the `data` it was chosen on."""

    data: PreparedScores = field(kw_only=True)

    columns: ClassVar[tuple[str, ...]] = (
        *("procedure", "tasks", "cv_mse", "r2", "relative_error"),
        *("nested_relative_error", "n_rows"),
    )
    drawn_by = "gnomon.plot.dots:prediction_figure"

    @property
    def model(self) -> SubsetModel:
        """The model of the subset."""
        return self[0].model

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors mean, whether the order is right, and the model."""
        return tuple(_in_words(self[0], self.data))


def _in_words(one: Distilled, data: PreparedScores) -> Iterator[str]:
    """Yield what the nested error of a subset means, and its model."""
    held, scale = one.nested, one.model.scale
    n, n_predicted = len(data.algorithms), held.n_predicted
    plain = f"{100 * one.relative_error:.1f} % with these tasks given, "
    plain = "" if isnan(one.relative_error) else plain
    lacking = "; the others lack a required score" if n_predicted < n else ""
    yield (
        f"{one.procedure}: relative error {plain}{100 * held.relative_error:.1f} % (standard error "
        f"{100 * held.standard_error:.1f} %) with tasks chosen without the predicted algorithms "
        f"({n_predicted} of {n}{lacking})"
    )
    if not isnan(held.concordance):
        yield f"  {100 * held.concordance:.1f} % of the pairs of algorithms are in the right order"
    if one.later is not None:
        yield (
            f"  each year from the years before: {100 * one.later.relative_error:.1f} %, "
            f"{one.later.n_predicted} algorithms{_covered(one.later, scale, data)}"
        )
    if one.families is not None:
        error = one.families.relative_error
        covered = _covered(one.families, scale, data)
        yield f"  each family from the others: {100 * error:.1f} %{covered}"
    if held.known:
        yield f"  {_covered(held, scale, data)[2:]}"
    if one.families is not None and (n_families := len({*data.groups})) < _FEW_FAMILIES:
        yield f"  {n_families} families are too few to estimate the error for another family"
    yield f"  {one.model.formula}"


def _covered(held: HeldOut, scale: float, data: PreparedScores) -> str:
    """Return how often a 90 % interval holds the truth, and how wide it is."""
    if not held.known:
        return ""
    half, base = held.half_width(scale=scale), data.transform.log_base
    width = f"{100 * (half * log(base)):.0f} %" if base else f"{half:.3g}"
    return (
        f"; 90 % intervals cover {100 * held.coverage(scale=scale):.0f} % of the algorithms, "
        f"median half width {width}"
    )


def distill(
    scores: Scores | PreparedScores,
    *,
    size: int | None = None,
    procedure: str = "factor",
    have: Sequence[str] = (),
    folds: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Distillation:
    """Find the few tasks that predict a suite's summary score, and estimate the error.

    The plain error takes the tasks as given and holds out algorithms while the weights are fitted;
    as the tasks were chosen on the same algorithms, it is too optimistic. The nested error repeats
    the choice without the algorithms that are predicted: those of a random fold, and, for the
    procedure ``factor``, each group (a paper) and each year from the years before where known.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        Several runs of a task are averaged; of learning curves the last common step is used.
    size : int, optional
        Number of tasks, those of `have` included; five if not given, or exactly those of `have`.
    procedure : {"factor", "paper"}
        How to choose tasks and weights: ``factor`` minimises the variance left under a factor
        model, ``paper`` the cross-validated error, as the Atari-5 paper states.
    have : sequence of str
        Tasks already run: every subset contains them.
    folds : int, optional
        Number of folds of both validations; ten if not given, or one per algorithm if fewer.
    rng : numpy.random.Generator or int, optional
        Generator or seed of the random folds; seed 0 if not given.
    progress : function of (done, all), optional
        Called with the subsets searched, then with the folds of the nested validation.
    **preparation
        The options of :func:`gnomon.distillation.prepare`: `transform`, `summary`, `group_by`,
        `date_by`, `exclude`.

    Returns
    -------
    Distillation
        One record: ``model``, the :class:`SubsetModel`; ``cv_mse``, ``r2`` and ``relative_error``
        with the tasks given; ``nested_relative_error``; and ``n_rows``. It shows what the errors
        mean, and ``plot()`` draws predicted against true summaries.

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds or than five, fewer than four remain outside a fold,
        the size does not fit the suite, or all summaries are the same.
    UnknownNameError
        A procedure, task, summary or transform does not exist.

    Examples
    --------
    >>> from gnomon import ScoreTable
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(3, 1, size=(40, 1))
    >>> rows = {f"a{i:02}": [r] for i, r in enumerate(skill + rng.normal(0, 0.5, (40, 8)))}
    >>> found = distill(ScoreTable.from_arrays(rows), size=3, transform="identity")
    >>> found.model.tasks
    ('task_2', 'task_3', 'task_5')
    >>> bool(found[0].nested_relative_error > 0.8 * found[0].relative_error)
    True
    """
    size = (len(have) or 5) if size is None else size
    if size < 1:
        raise ScoreDataError(f"expected a size of 1 or more, found {size}")
    with recorded() as notes:
        data = prepared_scores(scores, preparation)
        folds = folds or min(10, len(data.algorithms))
        chosen = procedure_of(procedure, folds, progress)
        check_folds(len(data.algorithms), folds)
        data.check_target()
        check_forced(data, have)
        tasks = tuple(have) if len(have) == size else chosen.choose(data, size, forced=have)
        work: dict[str, Any] = {"forced": have, "progress": progress, "rng": generator(rng)}
        best = _judged(data, chosen, tasks, folds, spread=True, **work)
    settings = {"size": size, "procedure": chosen.name, "folds": folds, "have": list(have)}
    warned = (*notes, *_warnings(best, data))
    return Distillation((best,), made_by(rng, **settings), warned, data=data)


def _judged(
    data: PreparedScores, procedure: Procedure, tasks: tuple[str, ...], n_folds: int, **work: Any
) -> Distilled:
    """Return the model of some tasks with its errors, and intervals as wide as these require."""
    model, size = procedure.fit(data, tasks, spread=True), len(tasks)
    errors, n_rows = (nan, nan, nan), model.n_rows
    try:
        plain = cross_validate(data, procedure, tasks, n_folds=n_folds)
        errors, n_rows = (plain.mse, plain.fold_r2, plain.fold_relative_error), plain.n_predicted
    except ScoreDataError as error:
        if model.forecaster is None:
            raise
        note(f"no plain error, which needs complete rows: {error}")
    held = nested_error(data, procedure, size, n_folds=n_folds, **work)
    scale, later, families = held.scale, None, None
    if model.forecaster is not None:
        if 3 <= len({*data.groups}) < len(data.algorithms):
            # Folds of algorithms show little about a new family.
            families = nested_error(data, procedure, size, outer="groups", **work)
            scale = max(scale, families.scale)
        if data.years is not None:
            with suppress(ScoreDataError):  # Too few before the last year.
                later = nested_error(data, procedure, size, outer="time", **work)
    model = replace(model.with_residuals(held.residuals), scale=scale)
    return Distilled(procedure.name, model, *errors, n_rows, held, later, families)


def _warnings(found: Distilled, data: PreparedScores) -> Iterator[str]:
    """Yield why numbers are missing, or mean little."""
    if len(found.model.tasks) == len(data.tasks):
        yield (
            "the subset is the whole suite, whose summary needs no prediction: the error is that "
            f"of a weighted sum of the scores ({data.transform.name}) in the place of the "
            f"{data.summary}"
        )
    summaries = np.abs(data.transform.inverse(data.target))
    if data.transform.log_base is None and summaries.min() < _NEARLY * summaries.max():
        yield "some summaries are near 0, where relative errors mean little; use r2"
    if len(data.algorithms) < FEW:
        held = found.nested
        yield (
            f"{len(data.algorithms)} algorithms are few to choose tasks by: the error is "
            f"{100 * found.relative_error:.0f} % with these tasks given, "
            f"{100 * held.relative_error:.0f} % (standard error {100 * held.standard_error:.0f} %) "
            "if they are chosen again"
        )
