"""Reproduction of the Atari-5 paper: every number that it prints, beside ours.

The models are the paper's: least squares without intercept and without a sign, on complete rows.
A printed number is equal if ours, rounded to its digits, is the same; where the paper truncates
instead (table 3, the correlations of section 6), ours is truncated, and the note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from functools import cache

import numpy as np

from gnomon.distill.atari.agent_scores import case_study
from gnomon.distill.atari.facts import published_constants, published_models, published_table
from gnomon.distill.atari.paper import Paper, selected_sets
from gnomon.distill.atari.run_costs import PUBLISHED_COSTS, run_cost
from gnomon.distill.evaluation import explained, fairness_tests
from gnomon.distill.preparation.prepared import PreparedScores
from gnomon.distill.procedures.least_squares import PaperProcedure
from gnomon.distill.structure import correlation_matrix, correlations, single
from gnomon.distill.work import Progress
from gnomon.errors import UnknownNameError
from gnomon.results import FieldRecord, Results
from gnomon.scores.datasets import load_references

_TRUNCATED = "printed truncated, not rounded"
#: The models of figure 4, and their columns in the table of its values.
_FIGURE_4 = {"Atari-5": "atari5", "Atari-10": "atari10"}


@dataclass(frozen=True)
class Comparison(FieldRecord):
    """A published value beside ours.

    Parameters
    ----------
    table : str
        Table or section of the paper.
    item : str
    published, ours : str
        As printed; `ours` is None if it cannot be computed here.
    equal : bool, optional
        None if there is nothing to compare.
    note : str
    """

    table: str
    item: str
    published: str
    ours: str | None
    equal: bool | None
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Results[Comparison]):
    """Published values beside ours.

    Parameters
    ----------
    n_equal, n_unequal, n_unknown : int
        How many are equal, not equal, and not computable, also of those that are not shown.

    Examples
    --------
    >>> one = Comparison("table 3", "DQN, Atari-5", "65.5", "65.5", equal=True)
    >>> found = Reproduction((one,), n_equal=1, n_unequal=0, n_unknown=0)
    >>> found.notes
    ('1 equal, 0 not equal, 0 not computable here',)
    """

    n_equal: int = field(kw_only=True)
    n_unequal: int = field(kw_only=True)
    n_unknown: int = field(kw_only=True)

    @property
    def notes(self) -> tuple[str, ...]:
        """How many are equal."""
        return (
            f"{self.n_equal} equal, {self.n_unequal} not equal, "
            f"{self.n_unknown} not computable here",
        )


def reproduce(
    only: str | None = None, *, differing: bool = False, progress: Progress | None = None
) -> Reproduction:
    """Return every published value of the Atari-5 paper beside ours.

    Parameters
    ----------
    only : str, optional
        One of :data:`SECTIONS`; all if not given.
    differing : bool
        Show only what is not equal; all are counted.
    progress : function of (done, all), optional
        Told of the parts that are done.

    Raises
    ------
    UnknownNameError
        The paper has no such part.
    ScoreDataError
        The data set is not at hand and cannot be fetched.
    """
    if only is not None and only not in SECTIONS:
        raise UnknownNameError("part of the paper", only, SECTIONS)
    paper = Paper()
    wanted = [name for name in SECTIONS if only in (None, name)]
    found: list[Comparison] = []
    for done, name in enumerate(wanted, start=1):
        found += SECTIONS[name](paper)
        if progress is not None:
            progress(done, len(wanted))
    return reproduction_of(found, differing=differing)


def reproduction_of(found: Sequence[Comparison], *, differing: bool = False) -> Reproduction:
    """Return comparisons with the counts of what is equal; all are counted."""
    n_equal, n_unequal, n_unknown = (
        sum(one.equal is value for one in found) for value in (True, False, None)
    )
    return Reproduction(
        tuple(one for one in found if not (differing and one.equal)),
        n_equal=n_equal,
        n_unequal=n_unequal,
        n_unknown=n_unknown,
    )


def rounded(value: float, like: str, *, truncate: bool = False) -> str:
    """Return a number with as many decimals as a printed one."""
    decimals = len(like.partition(".")[2])
    mode = ROUND_DOWN if truncate else ROUND_HALF_EVEN
    return str(Decimal(value).quantize(Decimal(1).scaleb(-decimals), rounding=mode))


def compared(
    table: str, item: str, published: str, value: float, note: str = "", *, truncate: bool = False
) -> Comparison:
    """Return a number beside the published one, equal if it is the same when printed like it."""
    ours = rounded(value, published, truncate=truncate)
    return Comparison(table, item, published, ours, float(ours) == float(published), note)


@cache
def facts() -> Mapping[str, str]:
    """Return the numbers that the paper's text prints, by item."""
    return {row["item"]: row["published"] for row in published_table("text")}


def told(
    section: str, item: str, fact: str, value: float, note: str = "", *, truncate: bool = False
) -> Comparison:
    """Return a number beside that of the paper's text."""
    return compared(section, item, facts()[fact], value, note, truncate=truncate)


def named(section: str, item: str, published: str, ours: str, note: str = "") -> Comparison:
    """Return a name beside the published one."""
    return Comparison(section, item, published, ours, published == ours, note)


def _table2(paper: Paper) -> Iterator[Comparison]:
    for row in published_table("table2"):
        held = paper.held_out(row["model"])
        yield compared("2", f"{row['model']} R2", row["r2"], held.fold_r2)
        error = 100 * held.fold_relative_error
        item = f"{row['model']} relative error %"
        yield compared("2", item, row["relative_error_percent"], error)


def _table3(paper: Paper) -> Iterator[Comparison]:
    data, predicted = paper.data, paper.predicted("Atari-5")
    for row in published_table("table3"):
        name = "Rainbow (noop)" if row["algorithm"] == "Rainbow DQN" else row["algorithm"]
        i = data.algorithms.index(name)
        true, ours = data.transform.inverse(np.array([data.target[i], predicted[i]]))
        error = 100 * abs(ours - true) / true
        label = row["algorithm"]
        yield compared("3", f"{label} median", row["median"], true, _TRUNCATED, truncate=True)
        yield compared("3", f"{label} Atari-5", row["atari5"], ours, _TRUNCATED, truncate=True)
        yield compared("3", f"{label} error %", row["relative_error_percent"], error)


def _tables45(paper: Paper) -> Iterator[Comparison]:
    rows = published_table("table4")
    names = [row["algorithm"] for row in rows]
    study = case_study(
        names, [float(r["median"]) for r in rows], [float(r["atari5"]) for r in rows]
    )
    note = "from the medians of table 4 as printed, so within their rounding"
    for row, ours in zip(rows, study.algorithms, strict=True):
        error = 100 * ours.relative_error
        published = row["relative_error_percent"]
        near = abs(error - float(published)) <= 100 * _slack(row)
        text = rounded(error, published)
        yield Comparison("4", f"{row['algorithm']} error %", published, text, near, note)
    for row, ours in zip(published_table("table5"), study.rescaled, strict=True):
        for column, value in (("median", ours.summary), ("atari5", ours.estimate)):
            near = abs(value - float(row[column])) <= 0.015
            text = rounded(value, row[column])
            yield Comparison("5", f"{row['algorithm']} {column}", row[column], text, near, note)
        published = row["relative_error_percent"]
        error = 100 * ours.relative_error
        near = abs(error - float(published)) <= 100 * 2 * 0.0125
        text = rounded(error, published)
        yield Comparison("5", f"{row['algorithm']} error %", published, text, near, note)
    error = sum(float(row["relative_error_percent"]) for row in rows) / 4
    fact = "case_study_mean_error_percent"
    yield told("section 7", "mean error %", fact, error, "of table 4")
    rescaled = published_table("table5")[:-1]
    error = sum(float(row["relative_error_percent"]) for row in rescaled) / 3
    fact = "case_study_rescaled_error_percent"
    yield told("section 7", "mean rescaled error %", fact, error, "of table 5")
    n = len(study.inversions)
    yield told("section 7", "inversions (C51, IQN)", "case_study_inversions", n)


def _slack(row: Mapping[str, str]) -> float:
    """Return how far a relative error may be off if median and estimate are off by one."""
    median, estimate = float(row["median"]), float(row["atari5"])
    return 1.0 / median + estimate / median**2


def _table6(_: Paper) -> Iterator[Comparison]:
    rows = {row["algorithm"]: row for row in published_table("table6")}
    for name, machine, hours in PUBLISHED_COSTS:
        row, cost = rows[name], run_cost(name, machine, hours, 57)
        yield compared("6", f"{name} GPU hours", row["gpu_hours"], cost.hours)
        preemptive, standard = row["cost_preemptive"], row["cost_standard"]
        yield compared("6", f"{name} preemptive USD", preemptive, cost.cost_preemptive)
        yield compared(
            "6", f"{name} standard USD", standard, cost.cost_standard, _TRUNCATED, truncate=True
        )
        if name == "Agent57":
            note = "615 W for 21,375 h are 13.146 MWh, by the paper's own figures"
            item, power = f"{name} power MWh", cost.power_kwh / 1000
            yield told("appendix A", item, "agent57_power_mwh", power, note)
            item, tons = f"{name} carbon tons", cost.carbon_kg / 907.18474
            note = "short tons of 2,000 lb"
            yield told("appendix A", item, "agent57_carbon_tons", tons, note)


def _table8(paper: Paper) -> Iterator[Comparison]:
    data = paper.data
    medians = data.transform.inverse(data.target)
    counts = (~np.isnan(data.x)).sum(axis=1)
    for row in published_table("table8"):
        i = data.algorithms.index(row["algorithm"])
        yield compared("8", f"{row['algorithm']} games", row["games"], float(counts[i]))
        yield compared("8", f"{row['algorithm']} median", row["median"], round(medians[i], 6))


def _table9(paper: Paper) -> Iterator[Comparison]:
    for row in published_table("table9"):
        model = paper.models[row["model"]]
        weight = model.weights[model.tasks.index(row["game"])]
        yield compared("9", f"{row['model']} {row['game']}", row["weight"], weight)


def _tables_of_games(table: str) -> Callable[[Paper], Iterator[Comparison]]:
    def section(paper: Paper) -> Iterator[Comparison]:
        rows = published_table(f"table{table}")
        games = [column for column in rows[0] if column not in ("game", "intercept")]
        ours = explained(paper.data, games).models
        for row in rows:
            model = ours[row["game"]]
            yield compared(table, f"{row['game']} c", row["intercept"], model.intercept)
            for game, weight in zip(model.tasks, model.weights, strict=True):
                yield compared(table, f"{row['game']} {game}", row[game], weight)

    return section


def _table12(_: Paper) -> Iterator[Comparison]:
    constants = load_references("atari5")
    for game in published_constants():
        row = next(r for r in published_table("table12") if r["game"] == game)
        random, human = constants[game]
        yield compared("12", f"{game} random", row["random"], round(random, 6))
        yield compared("12", f"{game} human", row["human"], round(human, 6))


def _selection(paper: Paper) -> Iterator[Comparison]:
    found = selected_sets(paper.data)
    for name, model in published_models().items():
        published, ours = " ".join(sorted(model.tasks)), " ".join(sorted(found[name]))
        note = "by the rule of the paper's code" if name == "Atari-10" else ""
        yield named("section 4.3", name, published, ours, note)
    data = paper.data
    stated = _stated_ten(data, found["Atari-5"], found["Atari-5-Val"])
    published = " ".join(sorted(published_models()["Atari-10"].tasks))
    note = "by the rule that the paper states: least cross-validated error of all"
    ours = " ".join(sorted(stated))
    yield named("section 4.3", "Atari-10", published, ours, note)
    before = facts()["algorithms_before_filter"]
    note = "the published data set holds only what the filter left"
    yield Comparison("section 4.1", "algorithms before the filter", before, None, None, note)
    item, fact = "algorithms after the filter", "algorithms_after_filter"
    note = "with a rule that the paper does not mention: median above 40"
    yield told("section 4.1", item, fact, len(data.algorithms), note)


def _stated_ten(
    data: PreparedScores, five: tuple[str, ...], validation: tuple[str, ...]
) -> tuple[str, ...]:
    free = tuple(t for t in data.candidates if t not in (*five, *validation))
    narrowed = replace(data, candidates=free)
    return PaperProcedure().choose(narrowed, 10, forced=five)[0]


def _single(paper: Paper) -> Iterator[Comparison]:
    singles, printed = single(paper.data), facts()
    best, worst = singles[0], singles[-1]
    yield named("section 5.1", "best single game", printed["single_best_game"], best.task)
    yield told("section 5.1", "its R2", "single_best_r2", best.r2)
    yield named("section 5.1", "worst single game", printed["single_worst_game"], worst.task)
    yield told("section 5.1", "its R2", "single_worst_r2", worst.r2)
    (one,) = singles.where(task="namethisgame")
    item = "Name This Game intercept"
    yield told("section 5.1", item, "namethisgame_intercept", one.intercept)
    yield told("section 5.1", "Name This Game scale", "namethisgame_scale", one.slope)


def _robustness(paper: Paper) -> Iterator[Comparison]:
    note = (
        "Go-Explore's scores are not in the data set; by the published model its estimate is "
        "1,855 (+28.3 %), and 1,620 appears only if Go-Explore is among the training rows"
    )
    printed = facts()
    for item, key in (
        ("median", "goexplore_true_median"),
        ("Atari-5", "goexplore_atari5"),
        ("overestimate %", "goexplore_over_percent"),
    ):
        yield Comparison("section 5.3", f"Go-Explore {item}", printed[key], None, None, note)
    data = paper.data
    predicted = paper.predicted("Atari-5")
    inverse = data.transform.inverse
    relative = (inverse(predicted) - inverse(data.target)) / inverse(data.target)
    tests = fairness_tests(predicted, data.target, relative)
    least = min(min(test.welch_p, test.wilcoxon_p) for test in tests)
    published = "no pair differs (p < 0.05)"
    ours = f"{published}; least p {least:.3f}" if least >= 0.05 else f"least p {least:.3f}"
    note = "Welch's t and Wilcoxon's rank-sum; the paper says \"Wilson's T-test\""
    yield Comparison("section 5.4", "fairness by tertile", published, ours, least >= 0.05, note)


def _all_games(paper: Paper) -> Iterator[Comparison]:
    for name, key in (("Atari-5", "var_explained_atari5"), ("Atari-10", "var_explained_atari10")):
        models = explained(paper.data, paper.models[name].tasks)
        note = f"pooled, with the subset's own games; {100 * models.explained_others:.1f} % without"
        published = facts()[key].rstrip("%")
        item = f"variance explained by {name} %"
        yield compared("section 5.5", item, published, 100 * models.explained, note)
        if name == "Atari-5":
            high = [game for game, r2 in models.r2.items() if r2 > 0.8]
            others = len(set(high) - set(paper.models[name].tasks))
            note = f"{others} without the subset's own"
            item, fact = "games with R2 above 0.8", "games_r2_above_0.8"
            yield told("section 5.5", item, fact, len(high), note)


def _figure4(paper: Paper) -> Iterator[Comparison]:
    note = "drawn without digits: beside an independent computation"
    r2 = {name: explained(paper.data, paper.models[name].tasks).r2 for name in _FIGURE_4}
    for row in published_table("figure4"):
        for name, column in _FIGURE_4.items():
            item = f"{row['game']} R2 from {name}"
            yield compared("figure 4", item, row[column], r2[name][row["game"]], note)


def _correlated(paper: Paper) -> Iterator[Comparison]:
    data = paper.data
    top = correlations(data, strongest=1)[0]
    published = facts()["most_correlated_pair"]
    yield named("section 6", "most correlated pair", published, f"{top.a}-{top.b}")
    r, _ = correlation_matrix(data)
    skiing = data.tasks.index("skiing")
    for game in ("alien", "frostbite", "mspacman", "riverraid"):
        value, fact = float(r[skiing, data.tasks.index(game)]), f"pcc_skiing_{game}"
        yield told("section 6", f"Skiing, {game}", fact, value, _TRUNCATED, truncate=True)


#: The parts of the paper, in its order.
SECTIONS: Mapping[str, Callable[[Paper], Iterator[Comparison]]] = {
    "sets": _selection,
    "table2": _table2,
    "table3": _table3,
    "single": _single,
    "robustness": _robustness,
    "all-games": _all_games,
    "figure4": _figure4,
    "structure": _correlated,
    "case-study": _tables45,
    "table6": _table6,
    "table8": _table8,
    "table9": _table9,
    "table10": _tables_of_games("10"),
    "table11": _tables_of_games("11"),
    "table12": _table12,
}
