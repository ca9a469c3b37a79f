"""Aitchison, Sweetser and Hutter 2022 (Atari-5): every number that the paper prints, beside ours.

The models are the paper's: least squares without intercept and without a sign, on complete rows.
A printed number is equal if ours, rounded to its digits, is the same; where the paper truncates
instead (table 3, the correlations of section 6), ours is truncated, and the note says so.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.stats import ranksums, ttest_ind

from gnomon.distillation import PaperProcedure, SubsetModel, atari, cross_validate, search_subsets
from gnomon.distillation.preparation import PreparedScores
from gnomon.distillation.procedures import fit_least_squares
from gnomon.distillation.validation import HeldOut
from gnomon.scores.anchors import shipped_anchors
from gnomon.scores.datasets import dataset_file
from reproduction.comparison import Comparison, compared, published_table, rounded, show, use_data

TITLE = "Aitchison, Sweetser and Hutter 2022: Atari-5 (arXiv 2210.02019)"
_TRUNCATED = "printed truncated, not rounded"
#: The models of figure 4, and their columns in the table of its values.
_FIGURE_4 = {"Atari-5": "atari5", "Atari-10": "atari10"}
#: Pounds of carbon dioxide a kilowatt hour: US mean of 2019 (US Energy Information Administration).
_POUNDS_PER_KWH = 0.92


class Paper:
    """The data, and the models that several tables share."""

    procedure = PaperProcedure()

    @cached_property
    def data(self) -> PreparedScores:
        """The scores as the paper's code prepares them."""
        use_data()
        return atari.paper_scores()

    @cached_property
    def models(self) -> Mapping[str, SubsetModel]:
        """The published subsets and DQN-7, each fitted again."""
        published = {name: model.tasks for name, model in atari.published_models().items()}
        named = {row["subset"]: tuple(row["games"].split()) for row in published_table("table7")}
        published["DQN-7"] = named["DQN-7"]
        return {name: self.procedure.fit(self.data, tasks) for name, tasks in published.items()}

    def held_out(self, name: str) -> HeldOut:
        """Return what a subset predicts of algorithms that its weights had not seen."""
        return cross_validate(self.data, self.procedure, self.models[name].tasks)

    def predicted(self, name: str) -> np.ndarray:
        """Return what a model says of each algorithm, transformed, in-sample."""
        model = self.models[name]
        return model.predict(self.data.x[:, self.data.columns(model.tasks)])


class Explained(NamedTuple):
    """The model of one game from a subset, and its sums of squares: left, and in all."""

    model: SubsetModel
    left: float
    whole: float


def _every_game(data: PreparedScores, tasks: Sequence[str]) -> dict[str, Explained]:
    """Return how well a subset predicts each game: least squares with intercept, in-sample."""
    x, found = data.x[:, data.columns(tasks)], {}
    for game, y in zip(data.tasks, data.x.T, strict=True):
        model = fit_least_squares(replace(data, target=y), tasks, intercept=True)
        whole = ~np.isnan(x).any(axis=1) & ~np.isnan(y)
        left, y = y[whole] - model.predict(x[whole]), y[whole]
        found[game] = Explained(model, float((left**2).sum()), float(((y - y.mean()) ** 2).sum()))
    return found


def _share(games: Iterable[Explained]) -> float:
    """Return the share of the variance of games, pooled, that a subset explains."""
    left, whole = np.sum([(one.left, one.whole) for one in games], axis=0)
    return float(1.0 - left / whole)


def comparisons() -> Iterator[Comparison]:
    """Yield every published value of the paper beside ours."""
    paper = Paper()
    for section in SECTIONS:
        yield from section(paper)


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


def _tables45(_: Paper) -> Iterator[Comparison]:
    rows = published_table("table4")
    names = [row["algorithm"] for row in rows]
    medians, estimates = ([float(row[name]) for row in rows] for name in ("median", "atari5"))
    for row, median, estimate in zip(rows, medians, estimates, strict=True):
        error = 100 * abs(estimate - median) / median
        # Both numbers may be off by one.
        slack = 100 * (1.0 / median + estimate / median**2)
        yield _near("4", f"{row['algorithm']} error %", row["relative_error_percent"], error, slack)
    best = medians.index(max(medians))
    for row, median, estimate in zip(published_table("table5"), medians, estimates, strict=True):
        name = row["algorithm"]
        summary, rescaled = median / medians[best], estimate / estimates[best]
        yield _near("5", f"{name} median", row["median"], summary, 0.015)
        yield _near("5", f"{name} atari5", row["atari5"], rescaled, 0.015)
        error = 100 * abs(rescaled - summary) / summary
        yield _near("5", f"{name} error %", row["relative_error_percent"], error, 2.5)
    error = sum(float(row["relative_error_percent"]) for row in rows) / 4
    yield told("section 7", "mean error %", "case_study_mean_error_percent", error, "of table 4")
    others = published_table("table5")[:-1]
    error = sum(float(row["relative_error_percent"]) for row in others) / 3
    fact = "case_study_rescaled_error_percent"
    yield told("section 7", "mean rescaled error %", fact, error, "of table 5")
    n = sum(
        (medians[a] - medians[b]) * (estimates[a] - estimates[b]) < 0
        for a, b in combinations(range(len(names)), 2)
    )
    yield told("section 7", "inversions (C51, IQN)", "case_study_inversions", n)


def _near(where: str, item: str, published: str, value: float, slack: float) -> Comparison:
    """Return a number computed from rounded ones beside the published one."""
    note = "from the medians of table 4 as printed, so within their rounding"
    near = abs(value - float(published)) <= slack
    return Comparison(where, item, published, rounded(value, published), near, note)


def _table6(_: Paper) -> Iterator[Comparison]:
    for row in published_table("table6"):
        name, hours = row["algorithm"], 57 * float(row["hours_per_game"])
        standard = float(row["gpu_hour_standard"]) + float(row["cpu_hour_standard"])
        preemptive = float(row["gpu_hour_preemptive"]) + float(row["cpu_hour_preemptive"])
        yield compared("6", f"{name} GPU hours", row["gpu_hours"], hours)
        item = f"{name} preemptive USD"
        yield compared("6", item, row["cost_preemptive"], hours * preemptive)
        item, dollars = f"{name} standard USD", hours * standard
        yield compared("6", item, row["cost_standard"], dollars, _TRUNCATED, truncate=True)
        if name == "Agent57":
            # Appendix A gives the power of this machine alone: 400 W for the A100, 215 W beside it.
            mwh = hours * 615.0 / 1e6
            known = "615 W for 21,375 h are 13.146 MWh, by the paper's own figures"
            item, fact = f"{name} power MWh", "agent57_power_mwh"
            yield replace(told("appendix A", item, fact, mwh), explained=known)
            tons = 1000 * mwh * _POUNDS_PER_KWH / 2000
            note = "short tons of 2,000 lb"
            yield told("appendix A", f"{name} carbon tons", "agent57_carbon_tons", tons, note)


def _table8(paper: Paper) -> Iterator[Comparison]:
    data = paper.data
    medians = data.transform.inverse(data.target)
    counts = (~np.isnan(data.x)).sum(axis=1)
    for row in published_table("table8"):
        i = data.algorithms.index(row["algorithm"])
        yield compared("8", f"{row['algorithm']} games", row["games"], float(counts[i]))
        yield compared("8", f"{row['algorithm']} median", row["median"], round(medians[i], 6))


def _table9(paper: Paper) -> Iterator[Comparison]:
    for name, published in atari.published_models().items():
        ours = paper.models[name]
        for game, weight, mine in zip(
            published.tasks, published.weights, ours.weights, strict=True
        ):
            yield compared("9", f"{name} {game}", f"{weight:.4f}", mine)


def _tables_of_games(table: str) -> Callable[[Paper], Iterator[Comparison]]:
    def section(paper: Paper) -> Iterator[Comparison]:
        rows = published_table(f"table{table}")
        games = [column for column in rows[0] if column not in ("game", "intercept")]
        ours = _every_game(paper.data, games)
        for row in rows:
            model = ours[row["game"]].model
            yield compared(table, f"{row['game']} c", row["intercept"], model.intercept)
            for game, weight in zip(model.tasks, model.weights, strict=True):
                yield compared(table, f"{row['game']} {game}", row[game], weight)

    return section


def _table12(_: Paper) -> Iterator[Comparison]:
    # The scores name games by their letters alone ("icehockey"), this file does not.
    with dataset_file("Atari-Human.csv").open(newline="", encoding="utf-8") as file:
        constants = {
            re.sub("[^a-z]", "", row["Game"].lower()): (float(row["Random"]), float(row["Human"]))
            for row in csv.DictReader(file)
        }
    for game, printed in shipped_anchors()["atari"].items():
        for name, published, ours in zip(
            ("random", "human"), printed, constants[game], strict=True
        ):
            yield compared("12", f"{game} {name}", str(published), round(ours, 6))


def _selection(paper: Paper) -> Iterator[Comparison]:
    found = _selected_sets(paper.data)
    for name, model in atari.published_models().items():
        published, ours = " ".join(sorted(model.tasks)), " ".join(sorted(found[name]))
        note = "by the rule of the paper's code" if name == "Atari-10" else ""
        yield named("section 4.3", name, published, ours, note)
    data = paper.data
    stated = _stated_ten(data, found["Atari-5"], found["Atari-5-Val"])
    published = " ".join(sorted(atari.published_models()["Atari-10"].tasks))
    note = "by the rule that the paper states: least cross-validated error of all"
    ours = " ".join(sorted(stated))
    known = "the published set follows from the paper's code, not from the rule that it states"
    yield replace(named("section 4.3", "Atari-10", published, ours, note), explained=known)
    before = facts()["algorithms_before_filter"]
    note = "the published data set holds only what the filter left"
    yield Comparison("section 4.1", "algorithms before the filter", before, None, None, note)
    item, fact = "algorithms after the filter", "algorithms_after_filter"
    note = "with a rule that the paper does not mention: median above 40"
    yield told("section 4.1", item, fact, len(data.algorithms), note)


def _selected_sets(data: PreparedScores) -> dict[str, tuple[str, ...]]:
    """Return the published subsets, found again by the rule of the paper's code.

    The order of the searches is that of section 4.3: Atari-5, the best three of them, the best one
    of those; then validation sets without Atari-5; then Atari-10 without the validation games.
    """
    five = _best(data, 5, data.candidates)
    three = _best(data, 3, five)
    one = _best(data, 1, three)
    rest = [task for task in data.candidates if task not in five]
    three_val = _best(data, 3, rest)
    five_val = _best(data, 5, rest, forced=three_val)
    free = [task for task in rest if task not in five_val]
    ten = _best(data, 10, free, forced=five)
    return {
        "Atari-1": one,
        "Atari-3": three,
        "Atari-5": five,
        "Atari-10": ten,
        "Atari-3-Val": three_val,
        "Atari-5-Val": five_val,
    }


def _best(
    data: PreparedScores,
    size: int,
    candidates: tuple[str, ...] | list[str],
    forced: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return what the paper's code chooses: the cross-validated best of the 20 best in-sample."""
    own = replace(data, candidates=tuple(candidates))
    found = search_subsets(own, size, criterion="in_sample", forced=forced).subsets
    return min(found, key=lambda tasks: cross_validate(own, Paper.procedure, tasks).mse)


def _stated_ten(
    data: PreparedScores, five: tuple[str, ...], validation: tuple[str, ...]
) -> tuple[str, ...]:
    free = tuple(t for t in data.candidates if t not in (*five, *validation))
    narrowed = replace(data, candidates=free)
    return PaperProcedure().choose(narrowed, 10, forced=five)


def _single(paper: Paper) -> Iterator[Comparison]:
    data, printed = paper.data, facts()
    columns = zip(data.tasks, data.x.T, strict=True)
    r2 = {game: _correlation(x, data.target) ** 2 for game, x in columns}
    best, worst = max(r2, key=r2.__getitem__), min(r2, key=r2.__getitem__)
    yield named("section 5.1", "best single game", printed["single_best_game"], best)
    yield told("section 5.1", "its R2", "single_best_r2", r2[best])
    yield named("section 5.1", "worst single game", printed["single_worst_game"], worst)
    yield told("section 5.1", "its R2", "single_worst_r2", r2[worst])
    one = fit_least_squares(data, ["namethisgame"], intercept=True)
    item = "Name This Game intercept"
    yield told("section 5.1", item, "namethisgame_intercept", one.intercept)
    yield told("section 5.1", "Name This Game scale", "namethisgame_scale", one.weights[0])


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Return Pearson's correlation where both are known."""
    both = ~np.isnan(x) & ~np.isnan(y)
    return float(np.corrcoef(x[both], y[both])[0, 1])


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
    least = _least_p_of_thirds(data.target, relative)
    published = "no pair differs (p < 0.05)"
    ours = f"{published}; least p {least:.3f}" if least >= 0.05 else f"least p {least:.3f}"
    note = "Welch's t and Wilcoxon's rank-sum; the paper says \"Wilson's T-test\""
    yield Comparison("section 5.4", "fairness by tertile", published, ours, least >= 0.05, note)


def _least_p_of_thirds(true: np.ndarray, relative: np.ndarray) -> float:
    """Return the least p of tests of low, middle and high algorithms on accuracy and bias."""
    whole = np.flatnonzero(~np.isnan(relative))
    order = whole[np.argsort(true[whole], kind="stable")]
    p = []
    for a, b in combinations(np.array_split(order, 3), 2):
        for errors in (np.abs(relative), relative):
            p.append(ttest_ind(errors[a], errors[b], equal_var=False).pvalue)
            p.append(ranksums(errors[a], errors[b]).pvalue)
    return float(min(p))


def _all_games(paper: Paper) -> Iterator[Comparison]:
    for name, key in (("Atari-5", "var_explained_atari5"), ("Atari-10", "var_explained_atari10")):
        tasks = paper.models[name].tasks
        games = _every_game(paper.data, tasks)
        others = _share([own for game, own in games.items() if game not in tasks])
        note = f"pooled, with the subset's own games; {100 * others:.1f} % without"
        published = facts()[key].rstrip("%")
        item = f"variance explained by {name} %"
        yield compared("section 5.5", item, published, 100 * _share(games.values()), note)
        if name == "Atari-5":
            high = [game for game, own in games.items() if _share([own]) > 0.8]
            note = f"{len(set(high) - set(tasks))} without the subset's own"
            item, fact = "games with R2 above 0.8", "games_r2_above_0.8"
            yield told("section 5.5", item, fact, len(high), note)


def _figure4(paper: Paper) -> Iterator[Comparison]:
    note = "drawn without digits: beside an independent computation"
    games = {name: _every_game(paper.data, paper.models[name].tasks) for name in _FIGURE_4}
    for row in published_table("figure4"):
        for name, column in _FIGURE_4.items():
            item = f"{row['game']} R2 from {name}"
            yield compared("figure 4", item, row[column], _share([games[name][row["game"]]]), note)


def _correlated(paper: Paper) -> Iterator[Comparison]:
    columns = dict(zip(paper.data.tasks, paper.data.x.T, strict=True))
    r = {(a, b): _correlation(columns[a], columns[b]) for a, b in combinations(columns, 2)}
    published, top = facts()["most_correlated_pair"], max(r, key=r.__getitem__)
    yield named("section 6", "most correlated pair", published, "-".join(top))
    for game in ("alien", "frostbite", "mspacman", "riverraid"):
        value, fact = _correlation(columns["skiing"], columns[game]), f"pcc_skiing_{game}"
        yield told("section 6", f"Skiing, {game}", fact, value, _TRUNCATED, truncate=True)


#: The parts of the paper, in its order.
SECTIONS: tuple[Callable[[Paper], Iterator[Comparison]], ...] = (
    _selection,
    _table2,
    _table3,
    _single,
    _robustness,
    _all_games,
    _figure4,
    _correlated,
    _tables45,
    _table6,
    _table8,
    _table9,
    _tables_of_games("10"),
    _tables_of_games("11"),
    _table12,
)


if __name__ == "__main__":
    sys.exit(show(TITLE, comparisons()))
