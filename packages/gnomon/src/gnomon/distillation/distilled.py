"""Distilled subsets: what procedures chose, with their models, their errors, and these in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isnan, log
from typing import Any, ClassVar

from gnomon.distillation.models import SubsetModel
from gnomon.distillation.preparation.prepared import PreparedScores
from gnomon.distillation.validation.cross_validation import HeldOut
from gnomon.distillation.validation.order import OrderAgreement
from gnomon.results import Results

#: From fewer families one cannot tell what another one does; the mean cover of six has a standard
#: error of 0.13.
_FEW_FAMILIES = 10


@dataclass(frozen=True, eq=False)
class Distilled:
    """A subset that a procedure chose, its model and its errors.

    Parameters
    ----------
    procedure : str
    rank : int
        1 for the best.
    model : SubsetModel
        Its residuals are those of the nested validation, if there was one.
    cv_mse, r2, relative_error : float
        Cross-validated with the tasks given: too good, as the tasks were chosen on the same rows.
    n_rows : int
        Algorithms with scores on all tasks.
    nested : HeldOut, optional
        Predictions of algorithms that the choice had not seen; of the procedure, so rank 1 alone.
    order : OrderAgreement, optional
        Of these predictions with the truth.
    later : HeldOut, optional
        Predictions of each year's algorithms from the years before alone, if dates are known.
    families : HeldOut, optional
        Predictions of each group without it, if groups are known.

    Examples
    --------
    >>> from gnomon.distillation import distill
    >>> from gnomon.scores import load_scores
    >>> (one,) = distill(load_scores("gohr-full"), size=2, transform="identity", summary="mean")
    >>> one.model.tasks, round(one.r2, 2), round(one.nested.r2, 2)
    (('bottommost-first', 'two-a-bucket'), 0.98, 0.98)
    """

    procedure: str
    rank: int
    model: SubsetModel
    cv_mse: float
    r2: float
    relative_error: float
    n_rows: int
    nested: HeldOut | None = None
    order: OrderAgreement | None = None
    later: HeldOut | None = None
    families: HeldOut | None = None

    @property
    def nested_relative_error(self) -> float:
        """The honest relative error; NaN if it was not asked for."""
        return float("nan") if self.nested is None else self.nested.relative_error

    def _coverage_of(self, held: HeldOut | None) -> float | None:
        """Return how often a 90 % interval holds the truth; None if no interval was asked for."""
        return None if held is None or not held.told else held.coverage(scale=self.model.scale)

    def as_record(self) -> dict[str, Any]:
        """Return the numbers as a mapping fit for JSON."""
        nested, order = self.nested, self.order
        return {
            "procedure": self.procedure,
            "rank": self.rank,
            "tasks": list(self.model.tasks),
            "weights": list(self.model.weights),
            "intercept": self.model.intercept,
            "cv_mse": self.cv_mse,
            "r2": self.r2,
            "relative_error": self.relative_error,
            "nested_relative_error": self.nested_relative_error,
            "next_relative_error": _error_of(self.later),
            "family_relative_error": _error_of(self.families),
            "n_predicted": None if nested is None else nested.n_predicted,
            "coverage": self._coverage_of(nested),
            "next_coverage": self._coverage_of(self.later),
            "family_coverage": self._coverage_of(self.families),
            "concordance": None if order is None else order.concordance,
            "clear_concordance": None if order is None else order.clear_concordance,
            "tau": None if order is None else order.tau,
            "n_rows": self.n_rows,
        }


def _error_of(held: HeldOut | None) -> float | None:
    return None if held is None else held.relative_error


def explained_in_words(one: Distilled, nested: HeldOut, data: PreparedScores) -> Iterator[str]:
    """Yield in words what the errors are errors of, whether the order holds, and the model."""
    n, n_predicted = len(data.algorithms), nested.n_predicted
    plain = f"{100 * one.relative_error:.1f} % with these tasks given, "
    plain = "" if isnan(one.relative_error) else plain
    lacking = "; the others lack a score that was needed" if n_predicted < n else ""
    yield (
        f"{one.procedure}: {plain}"
        f"{100 * one.nested_relative_error:.1f} % (standard error "
        f"{100 * nested.standard_error:.1f}) for algorithms that the choice of tasks had not seen: "
        f"{n_predicted} of {n}{lacking}"
    )
    if one.order is not None and one.order.n_pairs:
        yield (
            f"  of these, {100 * one.order.concordance:.1f} % of the pairs are ordered rightly "
            f"(Kendall's tau {one.order.tau:.3f}), "
            f"{100 * one.order.clear_concordance:.1f} % of those that differ by a quarter"
        )
    if one.later is not None and one.later is not nested:
        held, scale = one.later, one.model.scale
        yield (
            f"  next year's, each from the years before alone: {100 * held.relative_error:.1f} %, "
            f"{held.n_predicted} algorithms; {_covered(held, scale, data)}"
        )
    if one.families is not None and one.families is not nested:
        held = one.families
        covered = f"; {_covered(held, one.model.scale, data)}" if held.told else ""
        yield f"  without the whole family: {100 * held.relative_error:.1f} %{covered}"
    if nested.told:
        yield f"  {_covered(nested, one.model.scale, data)}"
    if one.families is not None and (n_families := len({*data.groups})) < _FEW_FAMILIES:
        yield f"  {n_families} families are too few to say how far another one may be off"
    if one.model.forecaster is not None:
        yield "  an estimate is halfway between the suites simulated and this line, unshrunk:"
    yield f"  {one.model.formula}"


def _covered(held: HeldOut, scale: float, data: PreparedScores) -> str:
    """Return in words how often an interval holds the truth, and how wide it is."""
    half = held.half_width(scale=scale)
    base = data.transform.log_base
    width = f"{100 * half * log(base):.0f} %" if base else f"{half:.3g} ({data.transform.name})"
    return f"90 % intervals cover {held.coverage(scale=scale):.0%}, median half width {width}"


@dataclass(frozen=True, eq=False, repr=False)
class Distillation(Results[Distilled]):
    """The subsets that one or several procedures chose, best first of each.

    Parameters
    ----------
    data : PreparedScores
        What they were chosen from.

    Examples
    --------
    >>> from gnomon.distillation import distill
    >>> from gnomon.scores import load_scores
    >>> found = distill(load_scores("gohr-full"), size=2, transform="identity", summary="mean")
    >>> found.model.formula
    'identity summary = 762 + 0.2081 bottommost-first + 0.2864 two-a-bucket'
    >>> found.settings["nested"], found.warnings[-1]
    ('folds', 'some summaries are near 0: relative errors say little there, r2 says more')
    """

    data: PreparedScores = field(kw_only=True)

    columns: ClassVar[tuple[str, ...]] = (
        *("procedure", "rank", "tasks", "cv_mse", "r2", "relative_error"),
        *("nested_relative_error", "n_rows"),
    )
    drawn_by = "gnomon.plot.distillation:prediction_figure"

    @property
    def model(self) -> SubsetModel:
        """The model of the first subset."""
        return self[0].model

    @property
    def notes(self) -> tuple[str, ...]:
        """What the errors are errors of, whether the order holds, and the models."""
        nested = [(one, one.nested) for one in self if one.nested is not None]
        lines = [line for one, held in nested for line in explained_in_words(one, held, self.data)]
        beside = self.settings.get("chosen_relative_error")
        if beside is not None:
            n = len(self.model.tasks)
            lines.append(f"the best {n} tasks to choose would have {100 * beside:.1f} %, nested")
        return tuple(lines)


@dataclass(frozen=True, eq=False, repr=False)
class Sizes(Distillation):
    """The best subset of each size: how the error falls with the number of tasks.

    Parameters
    ----------
    others : mapping from str to tuple of float
        The errors of ``random`` sets of as many tasks, on the same folds; empty if not requested.
    """

    others: Mapping[str, tuple[float, ...]] = field(default_factory=dict, kw_only=True)

    columns = ("size", "tasks", "r2", "relative_error", "nested_relative_error", "n_rows")
    drawn_by = "gnomon.plot.distillation:size_figure"

    @property
    def notes(self) -> tuple[str, ...]:
        """The errors of random sets of as many tasks."""
        return tuple(
            f"{name} sets: " + ", ".join(f"{100 * error:.1f} %" for error in errors)
            for name, errors in self.others.items()
        )

    def as_records(self) -> list[dict[str, Any]]:
        """Return the records, each with its number of tasks first."""
        found = []
        for i, one in enumerate(self):
            beside = {f"{name}_error": errors[i] for name, errors in self.others.items()}
            found.append({"size": len(one.model.tasks)} | one.as_record() | beside)
        return found
