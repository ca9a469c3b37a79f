"""Distillation of a suite: the chosen tasks, their plain error, and the nested one beside it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import comb, isnan, log, nan
from typing import Any, ClassVar, Literal, Unpack

import numpy as np

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation import (
    PreparationOptions,
    PreparedScores,
    prepare,
    transform_of,
)
from gnomon.distillation.procedures import Procedure, procedure_of
from gnomon.distillation.search import Progress, Subsets
from gnomon.distillation.validation import (
    FEW,
    HeldOut,
    OrderAgreement,
    Outer,
    check_folds,
    cross_validate,
    nested_error,
)
from gnomon.errors import DegenerateScoresWarning, ScoreDataError, check_word
from gnomon.results import Results, generator, made_by, recorded
from gnomon.scores.reading import Scores, table_of

#: What a nested validation leaves out at a time.
Nested = Literal["folds", "algorithms", "groups", "time", "none"]
#: A given set is compared with the best of its size up to this number of subsets.
_MOST_COMPARED = 10_000_000
#: Fewer families do not show how far one may be off.
_FEW_FAMILIES = 10
#: A summary that is a smaller share of the largest one makes a relative error meaningless.
_NEARLY = 0.01


@dataclass(frozen=True)
class Distilled:
    """A subset of tasks with its errors.

    Parameters
    ----------
    procedure : str
    rank : int
        Among the subsets of the procedure, from 1.
    model : SubsetModel
    cv_mse, r2, relative_error : float
        Cross-validated with these tasks given: too optimistic, as the tasks were chosen on the same
        algorithms.
    n_rows : int
        Algorithms with scores on all tasks.
    nested : HeldOut, optional
        Predictions of algorithms that the choice had not seen; only for the first subset.
    later, families : HeldOut, optional
        Predictions of each year's algorithms from the years before, if dates are known; and of each
        group without it, if groups are known.
    """

    procedure: str
    rank: int
    model: SubsetModel
    cv_mse: float
    r2: float
    relative_error: float
    n_rows: int
    nested: HeldOut | None = None
    later: HeldOut | None = None
    families: HeldOut | None = None

    @property
    def nested_relative_error(self) -> float:
        """The relative error for algorithms that the choice had not seen; NaN without one."""
        return nan if self.nested is None else self.nested.relative_error

    @property
    def order(self) -> OrderAgreement | None:
        """How well the order of algorithms that the choice had not seen is predicted."""
        transform = transform_of(self.model.transform)
        return None if self.nested is None else self.nested.order(transform)

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        model, order = self.model, self.order
        record: dict[str, Any] = {"procedure": self.procedure, "rank": self.rank}
        record |= {"tasks": list(model.tasks), "weights": list(model.weights)}
        record |= {"intercept": model.intercept}
        for name in ("cv_mse", "r2", "relative_error", "nested_relative_error"):
            record[name] = getattr(self, name)
        held = {"": self.nested, "next_": self.later, "family_": self.families}
        for name in ("next_", "family_"):
            record[f"{name}relative_error"] = (one := held[name]) and one.relative_error
        record["n_predicted"] = self.nested and self.nested.n_predicted
        for name, one in held.items():
            known = one is not None and one.known
            record[f"{name}coverage"] = one.coverage(scale=model.scale) if one and known else None
        for name in ("concordance", "clear_concordance", "tau"):
            record[name] = order and getattr(order, name)
        return record | {"n_rows": self.n_rows}


@dataclass(frozen=True, eq=False, repr=False)
class Distillation(Results[Distilled]):
    """The subsets that one or several procedures chose, best first for each.

    Parameters
    ----------
    data : PreparedScores
        The scores that they were chosen from.
    """

    data: PreparedScores = field(kw_only=True)

    columns: ClassVar[tuple[str, ...]] = (
        *("procedure", "rank", "tasks", "cv_mse", "r2", "relative_error"),
        *("nested_relative_error", "n_rows"),
    )
    drawn_by = "gnomon.plot.subsets:prediction_figure"

    @property
    def model(self) -> SubsetModel:
        """The model of the first subset."""
        return self[0].model

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors mean, whether the order is right, and the models."""
        lines = [line for one in self for line in _in_words(one, self.data)]
        best = self.settings.get("chosen_relative_error")
        if best is not None:
            n = len(self.model.tasks)
            lines.append(
                f"the best choice of {n} tasks would have a nested error of {100 * best:.1f} %"
            )
        return tuple(lines)


def _in_words(one: Distilled, data: PreparedScores) -> Iterator[str]:
    """Yield what the nested error of a subset means, and its model."""
    if one.nested is None:
        return
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
    if one.order is not None and one.order.n_pairs:
        yield (
            f"  {100 * one.order.concordance:.1f} % of the pairs of algorithms are in the right "
            f"order (Kendall's tau {one.order.tau:.3f}), "
            f"{100 * one.order.clear_concordance:.1f} % of those that differ by a quarter or more"
        )
    if one.later is not None and one.later is not held:
        yield (
            f"  each year from the years before: {100 * one.later.relative_error:.1f} %, "
            f"{one.later.n_predicted} algorithms{_covered(one.later, scale, data)}"
        )
    if one.families is not None and one.families is not held:
        error = one.families.relative_error
        covered = _covered(one.families, scale, data)
        yield f"  each family from the others: {100 * error:.1f} %{covered}"
    if held.known:
        yield f"  {_covered(held, scale, data)[2:]}"
    if one.families is not None and (n_families := len({*data.groups})) < _FEW_FAMILIES:
        yield f"  {n_families} families are too few to show how far off another one may be"
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
    procedure: str | Procedure | Sequence[str | Procedure] = "factor",
    have: Sequence[str] = (),
    top: int = 1,
    nested: Nested = "folds",
    folds: int = 10,
    rng: np.random.Generator | int | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Distillation:
    """Find the few tasks that predict a suite's summary score, with a nested error.

    The plain error takes the tasks as given and holds out algorithms while the weights are fitted;
    as the tasks were chosen on the same algorithms, it is too optimistic. The nested error repeats
    the choice without the algorithms that are predicted.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        Several runs of a task count by their mean, of learning curves at the last common step.
    size : int, optional
        Number of tasks, those of `have` included; five if not given, or exactly those of `have`.
    procedure : {"factor", "paper", "paper-code"}, Procedure, or a sequence of these
        How to choose and weigh: ``factor`` minimises the variance left under a factor model,
        ``paper`` is the rule that the Atari-5 paper states, ``paper-code`` what its code does.
    have : sequence of str
        Tasks already run: every subset contains them.
    top : int
        Number of subsets of each procedure.
    nested : {"folds", "algorithms", "groups", "time", "none"}
        What the nested validation leaves out at a time: a random fold, one algorithm, or one group
        (a paper); ``time`` predicts each year from the years before. Where dates and groups are
        known, those validations are added.
    folds : int
        Of both validations.
    rng : numpy.random.Generator or int, optional
        Of the random folds, or its seed; seed 0 if not given.
    progress : function of (done, all), optional
        Called with the subsets searched, then with the folds of the nested validation.
    **preparation
        The options of :func:`gnomon.distillation.prepare`: `transform`, `summary`, `references`,
        `group_by`, `date_by`, `exclude`, ...

    Returns
    -------
    Distillation

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds or than five, fewer than four remain outside a fold,
        the size does not fit the suite, all summaries are the same, or groups are to be left out
        and there are none.
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
    if not isinstance(scores, PreparedScores):
        scores = table_of(scores)
    check_word("nested", nested, ("folds", "algorithms", "groups", "time", "none"))
    several = [procedure] if isinstance(procedure, str | Procedure) else procedure
    chosen = [procedure_of(one, folds, progress) for one in several]
    size = size or len(have) or 5
    settings: dict[str, Any] = {"size": size, "procedure": [one.name for one in chosen], "top": top}
    settings |= {"nested": nested, "folds": folds, "have": list(have)}
    outer: Outer | None = None if nested == "none" else nested
    with recorded() as notes:
        data = prepare(scores, **preparation)
        if nested == "groups" and data.groups == data.algorithms:
            raise ScoreDataError("nested groups need groups: name their column as group_by")
        draws = generator(rng)
        # Each procedure draws the same folds; a generator that was given goes on once.
        copies = [*(copy.deepcopy(draws) for _ in chosen[1:]), draws]
        found = []
        for each, own in zip(chosen, copies, strict=True):
            work: dict[str, Any] = {"n_folds": folds, "forced": have, "progress": progress}
            found += best_subsets(data, size, each, n_best=top, outer=outer, rng=own, **work)
        if have and comb(len(data.candidates), size) <= _MOST_COMPARED:
            best = nested_error(data, chosen[0], size, n_folds=folds, rng=np.random.default_rng(0))
            settings["chosen_relative_error"] = best.relative_error
    settings["preparation"] = list(data.record)
    warned = (*notes, *_warnings(found, data, top * len(chosen)))
    return Distillation(tuple(found), made_by(rng, **settings), warned, data=data)


def best_subsets(
    data: PreparedScores,
    size: int,
    procedure: Procedure,
    *,
    n_best: int = 1,
    forced: Sequence[str] = (),
    outer: Outer | None = "folds",
    n_folds: int = 10,
    rng: np.random.Generator,
    progress: Progress | None = None,
    beside: bool = True,
) -> list[Distilled]:
    """Return the best subsets of one procedure, best first; `beside` adds further validations."""
    n = len(data.algorithms)
    check_folds(n, n_folds)
    data.check_target()
    data.columns(forced)
    chosen: Subsets = (tuple(forced),)
    if len(forced) != size:
        chosen = procedure.choose(data, size, n_best=n_best, forced=forced)
    ranked = [_distilled(data, procedure, tasks, i, n_folds) for i, tasks in enumerate(chosen, 1)]
    if outer is None:
        return ranked
    best = ranked[0]
    work: dict[str, Any] = {"forced": forced, "progress": progress, "rng": rng, "spread": True}
    nested = nested_error(data, procedure, size, outer=outer, n_folds=n_folds, **work)
    scale = nested.scale
    later = nested if outer == "time" else None
    families = nested if outer == "groups" else None
    if beside and best.model.forecaster is not None:
        if families is None and 3 <= len({*data.groups}) < n:
            # Folds of algorithms show little about a new family.
            families = nested_error(data, procedure, size, outer="groups", **work)
            scale = max(scale, families.scale)
        if later is None and data.years is not None:
            with suppress(ScoreDataError):  # Too few before the last year.
                later = nested_error(data, procedure, size, outer="time", **work)
    # Intervals are as wide as the validations require.
    model = replace(best.model.with_residuals(nested.residuals), scale=scale)
    ranked[0] = replace(best, model=model, nested=nested, later=later, families=families)
    return ranked


def _distilled(
    data: PreparedScores, procedure: Procedure, tasks: tuple[str, ...], rank: int, n_folds: int
) -> Distilled:
    """Return a subset with its plain errors."""
    model = procedure.fit(data, tasks, spread=True)
    try:
        held = cross_validate(data, procedure, tasks, n_folds=n_folds)
    except ScoreDataError as error:
        if model.forecaster is None:
            raise
        text = f"no plain error, which needs complete rows: {error}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
        return Distilled(procedure.name, rank, model, nan, nan, nan, model.n_rows)
    errors = (held.mse, held.fold_r2, held.fold_relative_error)
    kept = model.with_residuals(held.residuals)
    return Distilled(procedure.name, rank, kept, *errors, held.n_predicted)


def _warnings(found: Sequence[Distilled], data: PreparedScores, n_wanted: int) -> Iterator[str]:
    """Yield why numbers are missing, or mean little."""
    if any(one.nested is None for one in found):
        yield "nested_relative_error is known for the first subset only"
    if len(found[0].model.tasks) == len(data.tasks):
        yield (
            "the subset is the whole suite, whose summary needs no prediction: the error is that "
            f"of a weighted sum of the scores ({data.transform.name}) in the place of the "
            f"{data.summary}"
        )
    summaries = np.abs(data.transform.inverse(data.target))
    if data.transform.log_base is None and summaries.min() < _NEARLY * summaries.max():
        yield "some summaries are near 0, where relative errors mean little; use r2"
    if len(data.algorithms) < FEW and found[0].nested is not None:
        held = found[0].nested
        yield (
            f"{len(data.algorithms)} algorithms are few to choose tasks by: the error is "
            f"{100 * found[0].relative_error:.0f} % with these tasks given, "
            f"{100 * held.relative_error:.0f} % (standard error {100 * held.standard_error:.0f} %) "
            "if they are chosen again"
        )
    if len(found) < n_wanted:
        yield f"{len(found)} subsets found, {n_wanted} asked for"
