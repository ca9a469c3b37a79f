"""Distillation of a suite: the chosen subsets, their plain error, and the honest one beside it."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace
from math import comb, nan
from typing import Any, Literal, Unpack

import numpy as np

from gnomon.distillation.distilled import Distillation, Distilled, Sizes
from gnomon.distillation.preparation.preparation import PreparationOptions, prepare
from gnomon.distillation.preparation.prepared import (
    PreparedScores,
    check_groups,
    check_target,
    error_of_few,
)
from gnomon.distillation.procedures.goals import BudgetProcedure, TargetErrorProcedure, check_costs
from gnomon.distillation.procedures.procedure import Procedure
from gnomon.distillation.procedures.registry import procedure_of
from gnomon.distillation.search.folds import Folds
from gnomon.distillation.validation.cross_validation import (
    HeldOut,
    Outer,
    cross_validate,
    nested_error,
)
from gnomon.distillation.validation.diagnosis import doubts
from gnomon.distillation.work import Progress
from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.results import generator, made_by, recorded
from gnomon.scores.table import ScoreTable

#: What a nested validation leaves out at a time.
Nested = Literal["folds", "algorithms", "groups", "group-folds", "time", "none"]
#: A set is compared with the best of its size if there are no more of these.
_MOST_COMPARED = 10_000_000
#: Fewer algorithms than these choose largely by chance.
_FEW = 20
#: A summary that is a smaller share of the largest one makes a relative error meaningless.
_NEARLY = 0.01


def distill(
    scores: ScoreTable | PreparedScores,
    *,
    size: int = 5,
    procedure: str | Procedure | Sequence[str | Procedure] = "factor",
    top: int = 1,
    nested: Nested = "folds",
    repeats: int = 1,
    folds: int = 10,
    force: Sequence[str] = (),
    have: Sequence[str] = (),
    add: int = 0,
    costs: Mapping[str, float] | None = None,
    budget: float | None = None,
    target_error: float | None = None,
    rng: np.random.Generator | int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Distillation:
    """Find the few tasks that predict a suite's summary score, with the honest error beside it.

    The plain error takes the tasks as given and holds out algorithms while the weights are fitted;
    as the tasks were chosen on the same algorithms, it is too good. The nested one repeats the
    choice without the algorithms that are predicted.

    Parameters
    ----------
    scores : ScoreTable or PreparedScores
        Several runs of a task count by their mean, of curves at the last step that all reach.
    size : int
        Number of tasks, forced ones included.
    procedure : str, Procedure, or a sequence of these
        How to choose and weigh; see :func:`gnomon.distillation.procedures.registry.procedure_of`.
    top : int
        How many subsets of each procedure.
    nested : {"folds", "algorithms", "groups", "group-folds", "time", "none"}
        What the nested validation leaves out at a time: a random fold, one algorithm, one group (a
        paper), or a random fold of whole groups; ``time`` predicts each year from those before.
        Beside it stand those in time and by groups, if dates and groups are known.
    repeats : int
        Of the nested validation, with other random folds.
    folds : int
        Of both validations.
    force : sequence of str
        Tasks that every subset has.
    have : sequence of str
        Tasks already run: the model is for exactly these, and its nested error needs no choice.
    add : int
        Choose so many tasks to run beside those.
    costs, budget : mapping from task to float, and float, optional
        Choose as many tasks as the budget pays for, instead of `size`.
    target_error : float, optional
        Choose the fewest tasks whose relative error is at most this, instead of `size`.
    rng : numpy.random.Generator or int, optional
        Of the random folds, or its seed; seed 0 if not given. Every procedure has the same folds.
    executor : Executor, optional
        Who does the pieces of work; this process if not given. The answer is the same.
    progress : function of (done, all), optional
        Told of the subsets searched, then of the folds of the nested validation.
    **preparation
        How a ScoreTable becomes a matrix, as :func:`gnomon.distillation.prepare` takes it:
        `transform`, `summary`, `references`, `group_by`, `exclude`, `least_tasks`, ...

    Returns
    -------
    Distillation
        Numbers that do not exist are NaN, and None in the records; `warnings` says why.

    Raises
    ------
    ScoreDataError
        There are fewer algorithms than folds, the size does not fit the suite, all summaries are
        the same, or groups are to be left out and there are none.
    UnknownNameError
        There is no such procedure, task, summary or transform.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(3, 1, size=(40, 1))
    >>> rows = {f"a{i:02}": [r] for i, r in enumerate(skill + rng.normal(0, 0.5, (40, 8)))}
    >>> found = distill(ScoreTable.from_arrays(rows), size=3, transform="identity")
    >>> found.model.tasks
    ('task_2', 'task_3', 'task_5')
    >>> bool(found[0].nested_relative_error > 0.8 * found[0].relative_error)
    True
    """
    several = [procedure] if isinstance(procedure, str | Procedure) else procedure
    chosen = [procedure_of(one, n_folds=folds) for one in several]
    if have:
        size, force = len(have) + add, have
    goal = _goal(costs, budget, target_error)
    if goal is not None:
        chosen = [goal]
    settings: dict[str, Any] = {"size": size, "procedure": [one.name for one in chosen], "top": top}
    settings |= {"nested": nested, "repeats": repeats, "folds": folds, "force": list(force)}
    with recorded() as notes:
        data = prepare(scores, **preparation)
        if costs is not None:
            check_costs(costs, data.tasks)
        if nested.startswith("group"):
            check_groups(data, f"nested {nested}")
        draws = generator(rng)
        # Each procedure draws the same folds; a generator that was given goes on once.
        copies = [*(copy.deepcopy(draws) for _ in chosen[1:]), draws]
        found = []
        for each, own in zip(chosen, copies, strict=True):
            found += best_subsets(
                data,
                size,
                each,
                n_best=top,
                forced=force,
                outer=None if nested == "none" else nested,
                n_folds=folds,
                n_repeats=repeats,
                rng=own,
                executor=executor,
                progress=progress,
                beside=True,
            )
        if have:
            of_chosen = _error_of_chosen(data, chosen[0], size, folds)
            settings["chosen_relative_error"] = of_chosen
    settings["preparation"] = list(data.record)
    odd = _doubts(found[0], data, chosen[0], force)
    told = (*notes, *odd, *_warnings(found, data, top * len(chosen)))
    return Distillation(tuple(found), made_by(rng, **settings), told, data=data)


def _doubts(
    one: Distilled, data: PreparedScores, procedure: Procedure, forced: Sequence[str]
) -> list[str]:
    """Return what copies and wild scores do to the nested error of a procedure that is quick."""
    if one.nested is None or one.model.forecaster is None:
        return []

    def held_of(other: PreparedScores) -> HeldOut:
        n_folds, rng = min(10, len(other.algorithms)), np.random.default_rng(0)
        size = len(one.model.tasks)
        fixed = forced if len(forced) == size else ()
        return nested_error(
            other, procedure, size, forced=forced, fixed=fixed, n_folds=n_folds, rng=rng
        )

    return doubts(data, one.nested, held_of)


def _error_of_chosen(
    data: PreparedScores, procedure: Procedure, size: int, n_folds: int
) -> float | None:
    """Return the nested error of the set of that size which would be chosen; None of a large one.

    A set of tasks that there are already is to be judged beside it.
    """
    if comb(len(data.candidates), size) > _MOST_COMPARED:
        return None
    rng = np.random.default_rng(0)
    return nested_error(data, procedure, size, n_folds=n_folds, rng=rng).relative_error


def _goal(
    costs: Mapping[str, float] | None, budget: float | None, target_error: float | None
) -> Procedure | None:
    """Return the procedure that decides how many tasks, if a budget or an error is the goal."""
    if (costs is None) != (budget is None):
        raise ScoreDataError("expected costs and a budget together, found one of them")
    if costs is not None and budget is not None:
        if target_error is not None:
            raise ScoreDataError("expected a budget or a target error, found both")
        return BudgetProcedure(costs, budget)
    return None if target_error is None else TargetErrorProcedure(target_error)


def sizes(
    scores: ScoreTable | PreparedScores,
    *,
    most: int = 5,
    procedure: str | Procedure = "factor",
    repeats: int = 1,
    folds: int = 10,
    others: bool = False,
    rng: np.random.Generator | int | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **preparation: Unpack[PreparationOptions],
) -> Sizes:
    """Return the best subset of each size: how plain and honest error fall with the size.

    Parameters are those of :func:`distill`, and

    Parameters
    ----------
    most : int
        The greatest number of tasks.
    others : bool
        Also the errors of random tasks.

    Returns
    -------
    Sizes

    Examples
    --------
    >>> from gnomon.scores import load_scores
    >>> found = sizes(load_scores("gohr-full"), most=2, transform="identity", summary="mean")
    >>> [round(one.r2, 2) for one in found]
    [0.94, 0.98]
    """
    from gnomon.distillation.validation.other_methods import random_error

    chosen = procedure_of(procedure, n_folds=folds)
    settings: dict[str, Any] = {"most": most, "procedure": chosen.name}
    settings |= {"repeats": repeats, "folds": folds}
    draws = generator(rng)
    seed = int(copy.deepcopy(draws).integers(0, 2**32))
    options: dict[str, Any] = {"n_folds": folds, "n_repeats": repeats, "rng": draws}
    options |= {"executor": executor, "progress": progress}
    with recorded() as notes:
        data = prepare(scores, **preparation)
        found = [best_subsets(data, size, chosen, **options)[0] for size in range(1, most + 1)]
        every = range(1, most + 1) if others else ()
        random = tuple(random_error(data, n, n_folds=folds, seed=seed) for n in every)
    settings["preparation"] = list(data.record)
    return Sizes(
        tuple(found),
        made_by(rng, **settings),
        tuple(notes),
        data=data,
        others={"random": random} if others else {},
    )


def best_subsets(
    data: PreparedScores,
    size: int,
    procedure: Procedure,
    *,
    n_best: int = 1,
    forced: Sequence[str] = (),
    outer: Outer | None = "folds",
    n_folds: int = 10,
    n_repeats: int = 1,
    rng: np.random.Generator,
    executor: Executor | None = None,
    progress: Progress | None = None,
    beside: bool = False,
) -> list[Distilled]:
    """Return the best subsets of one procedure, best first; see :func:`distill`.

    With `beside`, the validations in time and by groups stand beside the one that is asked for.
    """
    n = len(data.algorithms)
    if n < n_folds:
        raise ScoreDataError(
            f"expected at least {n_folds} algorithms for {n_folds} folds, found {n}: "
            f"too few to choose tasks by; {error_of_few(n)}; or give at most {n} folds (--folds)"
        )
    check_target(data)
    judged = procedure.best(data, size, forced=forced, progress=progress)
    whole = len(forced) == size
    work: dict[str, Any] = {"forced": forced, "executor": executor, "progress": progress}
    data.columns(forced)
    chosen = (tuple(forced),) if whole else judged.choose(data, size, n_best=n_best, **work)
    ranked = [_distilled(data, judged, tasks, i, n_folds) for i, tasks in enumerate(chosen, 1)]
    if outer is not None:
        work |= {"rng": rng, "spread": True, "fixed": forced if whole else ()}
        nested = nested_error(
            data, procedure, size, outer=outer, n_folds=n_folds, n_repeats=n_repeats, **work
        )
        found = _with_nested(ranked[0], data, nested)
        if beside and found.model.forecaster is not None:
            later, families = _beside(data, procedure, size, outer, nested, work)
            found = replace(found, later=later, families=families)
            if families is not None and families.told:
                scale = max(found.model.scale, families.scale)
                found = replace(found, model=replace(found.model, scale=scale))
        ranked[0] = found
    return ranked


def _distilled(
    data: PreparedScores, procedure: Procedure, tasks: tuple[str, ...], rank: int, n_folds: int
) -> Distilled:
    """Return a subset with its plain errors."""
    model = procedure.with_spread(data, procedure.fit(data, tasks)).of_data(data)
    try:
        held = cross_validate(data, procedure, tasks, folds=Folds(n_folds))
    except ScoreDataError as error:
        if model.moments is None:
            raise
        text = f"no plain error, which needs complete rows: {error}"
        warnings.warn(text, DegenerateScoresWarning, stacklevel=4)
        return Distilled(procedure.name, rank, model, nan, nan, nan, model.n_rows)
    errors = (held.mse, held.fold_r2, held.fold_relative_error)
    kept = model.with_residuals(held.residuals)
    return Distilled(procedure.name, rank, kept, *errors, held.n_predicted)


def _with_nested(one: Distilled, data: PreparedScores, nested: HeldOut) -> Distilled:
    """Return a subset whose intervals are as wide as the nested validation asks for."""
    model = replace(one.model.with_residuals(nested.residuals), scale=nested.scale)
    return replace(one, model=model, nested=nested, order=nested.order(data.transform))


def _beside(
    data: PreparedScores,
    procedure: Procedure,
    size: int,
    outer: Outer,
    nested: HeldOut,
    work: dict[str, Any],
) -> tuple[HeldOut | None, HeldOut | None]:
    """Return the validations in time and by groups, as far as dates and groups are known."""
    later = nested if outer == "time" else None
    families = nested if outer == "groups" else None
    n, n_families = len(data.algorithms), len({*data.groups})
    if families is None and 3 <= n_families < n:
        # Folds of algorithms say nothing of another family, which the next algorithm may be of.
        families = nested_error(data, procedure, size, outer="groups", **work)
    if later is None and data.years is not None:
        with suppress(ScoreDataError):  # Too few before the last year.
            later = nested_error(data, procedure, size, outer="time", **work)
    return later, families


def _warnings(found: Sequence[Distilled], data: PreparedScores, n_wanted: int) -> Iterator[str]:
    """Yield why numbers are missing, or mean little."""
    if any(one.nested is None for one in found):
        yield "nested_relative_error: of the first subset of a nested validation alone"
    summaries = np.abs(data.transform.inverse(data.target))
    if data.transform.log_base is None and summaries.min() < _NEARLY * summaries.max():
        yield "some summaries are near 0: relative errors say little there, r2 says more"
    if len(data.algorithms) < _FEW and found[0].nested is not None:
        error, unsure = found[0].nested_relative_error, found[0].nested.standard_error
        yield (
            f"{len(data.algorithms)} algorithms are few to choose tasks by: the error is "
            f"{found[0].relative_error:.0%} with these tasks given, {error:.0%} (standard error "
            f"{unsure:.0%}) if they are chosen again; {error_of_few(len(data.algorithms))}"
        )
    if len(found) < n_wanted:
        yield f"{len(found)} subsets found, {n_wanted} asked for"
