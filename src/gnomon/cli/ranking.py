"""``gnomon rank`` and ``gnomon audit``: who is better, and how far that can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon._io.tables import latex_table
from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.long_search import waiting
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    FigureFile,
    Level,
    NormalizedScores,
    ReadOptions,
    Seed,
    Source,
)

if TYPE_CHECKING:
    import numpy as np

    from gnomon.ranking.contest import Contest
    from gnomon.ranking.ranks.rank_intervals import Ranking
    from gnomon.scores.table import ScoreTable

__all__ = ["audit", "rank"]

# One resample has no spread.
Resamples = Annotated[int, typer.Option(min=2, help="Bootstrap resamples.")]
#: What a view that draws nothing must not be given another value of.
LEVEL, RESAMPLES = 0.95, 1000


@with_groups
def rank(
    source: Source,
    method: Annotated[str, typer.Option(help="hodge, gohr-ev, bradley-terry, ...")] = "hodge",
    by: Annotated[
        Literal["algorithm", "task"], typer.Option(help="Rank algorithms, or tasks by difficulty.")
    ] = "algorithm",
    pairs: Annotated[bool, typer.Option("--pairs", help="Every pair with its test.")] = False,
    methods: Annotated[bool, typer.Option("--methods", help="Places by every method.")] = False,
    classes: Annotated[bool, typer.Option("--classes", help="Classes of difficulty.")] = False,
    critical_difference: Annotated[
        Literal["wilcoxon-holm", "nemenyi"] | None,
        typer.Option(help="Mean ranks over tasks, and whom this test does not separate."),
    ] = None,
    marginal: Annotated[
        bool, typer.Option("--marginal", help="Rank intervals that hold one by one.")
    ] = False,
    resample_tasks: Annotated[
        bool, typer.Option("--resample-tasks", help="For a statement about tasks not tried.")
    ] = False,
    level: Level = LEVEL,
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")] = False,
    figure: FigureFile = None,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Rank algorithms (or tasks), with intervals of ranks and groups that are not separated."""
    import numpy as np

    views = {"--pairs": pairs, "--methods": methods, "--classes": classes}
    views["--critical-difference"] = critical_difference is not None
    chosen = [name for name, wanted in views.items() if wanted]
    given = {
        "--by task": by == "task",
        "--method": method != "hodge",
        "--latex": latex,
        "--figure": figure is not None,
        "--marginal": marginal,
        "--resample-tasks": resample_tasks,
        "--level": level != LEVEL,
        "--resamples": resamples != RESAMPLES,
        "--normalize": scores.normalize is not None,
    }
    _check_views(chosen, [name for name, is_given in given.items() if is_given])
    rng = np.random.default_rng(seed)
    with answering("rank", as_json=as_json) as answer:
        table = scores.last(source, reading)
        if (classes or by == "task") and scores.normalize is None:
            _warn_of_own_scales(answer, source, table)
        if classes:
            _answer_classes(answer, table, rng)
            return
        from gnomon.ranking.contest import Contest
        from gnomon.ranking.ranks.rank_intervals import rank as ranked

        contest = Contest.from_table(table, by=by)
        missing = int(table.effective_scores()["score"].is_nan().sum())
        if missing:
            answer.warn(f"{missing} of {len(table)} runs have no score and are left out")
        if pairs:
            _answer_pairs(answer, contest)
        elif methods:
            _answer_methods(answer, contest, as_json)
        elif critical_difference is not None:
            _answer_critical_difference(
                answer,
                contest,
                critical_difference,
                level,
                figure,
                is_normalized=table.normalization is not None,
            )
        else:
            ranking = ranked(
                contest,
                method,
                level=level,
                resampling="runs_and_tasks" if resample_tasks else None,
                n_resamples=resamples,
                rng=rng,
            )
            if latex:
                _answer_latex(answer, ranking, marginal, seed)
            else:
                _answer_ranking(answer, ranking, marginal)
            if figure is not None:
                from gnomon.report.audit_page import ranking_figure

                ranking_figure(ranking).write(figure)
                answer.say(f"written to {figure}")


#: What else may be given to each view; a ranking takes all, once.
_TAKES = {
    "--pairs": {"--by task", "--normalize"},
    "--methods": {"--by task", "--normalize"},
    "--classes": {"--normalize"},
    "--critical-difference": {"--by task", "--normalize", "--figure", "--level"},
}


def _check_views(chosen: Sequence[str], given: Sequence[str]) -> None:
    """Refuse options of which one would be passed over in silence; a seed does no harm."""
    if len(chosen) > 1:
        raise typer.BadParameter(f"expected one view of a ranking, found {' and '.join(chosen)}")
    view = chosen[0] if chosen else None
    for name in given:
        if view is not None and name not in _TAKES[view]:
            raise typer.BadParameter(f"{name} says nothing to {view}: leave out one of the two")
    if {"--marginal", "--figure"} <= {*given}:
        raise typer.BadParameter("--figure shows ranks that hold together: leave out --marginal")
    if (
        "--normalize" in given
        and "--by task" not in given
        and view in (None, "--pairs", "--methods")
    ):
        raise typer.BadParameter(
            "--normalize says nothing to an order of algorithms, which compares scores on one task "
            "at a time: give --by task or --classes, or leave it out"
        )


def _warn_of_own_scales(answer: Answer, source: Path, table: ScoreTable) -> None:
    """Warn where tasks seem to have scales of their own; a score of the game has one for all."""
    from gnomon.experiments.run_folder import MANIFEST
    from gnomon.scores.plausibility import own_scales

    found = None if (source / MANIFEST).exists() else own_scales(table)
    if found is not None:
        answer.warn(found)


def _answer_ranking(answer: Answer, ranking: Ranking, marginal: bool) -> None:
    """Print ratings, intervals of ranks and tie groups."""
    records = ranking.as_records(marginal=marginal)
    answer.results(records)
    shown = [_shown(record, ranking.by) for record in records]
    answer.table(shown, list(shown[0]), title=_title(ranking, marginal))
    answer.say(_LEGEND[ranking.by])
    if any(record["low"] is None for record in records):
        answer.say(_NO_INTERVAL)


def _answer_latex(answer: Answer, ranking: Ranking, marginal: bool, seed: int) -> None:
    """Print the same for a paper (booktabs), under a comment that says how it was made."""
    records = ranking.as_records(marginal=marginal)
    answer.results(records)
    drawn = ranking.resampling.replace("_", " ")
    answer.say(
        f"% {_title(ranking, marginal)}, {ranking.n_resamples} resamples of {drawn}, seed {seed}"
    )
    shown = [_shown(record, ranking.by) for record in records]
    # A list is joined by the dash that stands between numbers.
    rows = [{**row, "rank": row["rank"].split(" to ")} for row in shown]
    answer.say(latex_table(rows, list(rows[0])))


def _title(ranking: Ranking, marginal: bool) -> str:
    ranks = "ranks hold one by one" if marginal else "ranks hold together"
    return f"{ranking.method}, {100.0 * ranking.level:.4g}% intervals, {ranks}"


_LEGEND = {
    "algorithm": "The order counts who wins, run against run on common tasks, not by how much: "
    "means and IQMs of scores may order otherwise (gnomon audit compares them).\n"
    "Those who share a letter are not separated by these data; those who share none may be: the "
    "ranks tell.",
    "task": "Harder is the task on which runs of the same algorithm score worse; by how much does "
    "not count. That holds only where scores mean the same on all tasks.\n"
    "Those that share a letter are not separated by these data; those that share none may be: the "
    "ranks tell.",
}

_NO_INTERVAL = "No interval (-): too few runs, or a rating that no resample changes."


def _answer_critical_difference(
    answer: Answer,
    contest: Contest,
    test: Literal["wilcoxon-holm", "nemenyi"],
    level: float,
    figure: Path | None,
    *,
    is_normalized: bool,
) -> None:
    """Print mean ranks, and groups in which a test separates no pair; draw them if wanted."""
    from gnomon.ranking.critical_differences import critical_difference
    from gnomon.ranking.ranks.tie_groups import group_letters

    found = critical_difference(contest, test=test, differences=None, level=level)
    records = found.as_records()
    answer.results(records)
    answer.table(
        [
            {
                contest.by: record["name"],
                "mean rank": record["mean_rank"],
                "not separated": group_letters(record["groups"]) or "-",
            }
            for record in records
        ],
        [contest.by, "mean rank", "not separated"],
        title=f"{test}, {found.over}, {level:.0%}",
    )
    answer.say(f"Compared by {found.compared}.")
    if is_normalized and contest.by == "algorithm" and found.differences == "wins":
        answer.warn("--normalize changes nothing here: only the order of scores on one task counts")
    answer.say(f"Friedman's test that all are alike: p = {found.friedman_p:.3g}")
    if test == "nemenyi":
        answer.say(
            f"critical difference {found.difference:.3g}: it depends on who else is in the table"
        )
    if figure is not None:
        from gnomon.report.audit_page import critical_difference_figure

        critical_difference_figure(found).write(figure)
        answer.say(f"written to {figure}")


def _shown(record: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Return a record as people read it: ranks and tie groups in words."""
    from gnomon.ranking.ranks.rank_intervals import rank_range
    from gnomon.ranking.ranks.tie_groups import group_letters

    return {
        by: record["name"],
        "rating": record["rating"],
        "low": record["low"],
        "high": record["high"],
        "rank": rank_range(record["rank_low"], record["rank_high"]),
        "tie group": group_letters(record["groups"]),
    }


def _answer_pairs(answer: Answer, contest: Contest) -> None:
    """Print every pair: P(better), ease ratio and test."""
    from gnomon.ranking.pair_tests import compare_pairs
    from gnomon.ranking.tournament import Tournament, require_meetings

    require_meetings(Tournament.of(contest))
    records = [pair.as_record() for pair in compare_pairs(contest)]
    for record in records:
        del record["ground"]
    columns = ["a", "b", "probability", "ease_ratio", "n_grounds", "p_value", "p_adjusted"]
    answer.records(records, columns, title="two-sided Mann-Whitney tests, Holm's correction")


def _answer_methods(answer: Answer, contest: Contest, as_json: bool) -> None:
    """Print the place of everyone by every method; one column each."""
    from gnomon.ranking.kemeny.kemeny_order import MOST
    from gnomon.ranking.ratings.game_theory import alpha_rank
    from gnomon.ranking.ratings.method_orders import in_words, orders_by_method
    from gnomon.ranking.ratings.methods import METHODS
    from gnomon.ranking.tournament import Tournament

    tournament = Tournament.of(contest)
    with waiting("ranking by every method; Kemeny's may take 10 minutes"):
        orders = orders_by_method(contest, tournament)
    for method in [name for name in METHODS if name not in {order.method for order in orders}]:
        answer.warn(f"{method}: not asked of {len(contest.names)} competitors, more than {MOST}")
    records = [
        {
            "method": order.method,
            "place": order.places[i],
            "name": name,
            "rating": order.ratings[i],
            "standard_error": order.errors[i],
        }
        for order in orders
        for i, name in enumerate(order.names)
    ]
    shown = [
        {
            "method": order.method,
            "order": in_words(order.names, order.ratings),
            "reversed pairs": len(order.reversed_pairs),
        }
        for order in orders
    ]
    if as_json:
        answer.results(records)
    else:
        answer.records(shown, title="order by method")
    answer.say(f"alpha-rank: {alpha_rank(tournament.probability).sweep_in_words()}")
    for order in orders:
        answer.say(
            f"{order.method}: {METHODS[order.method].use}; not {METHODS[order.method].avoid}"
        )


def _answer_classes(answer: Answer, table: ScoreTable, rng: np.random.Generator) -> None:
    """Print classes of difficulty, and how many of them each algorithm learns."""
    from gnomon.ranking.task_difficulty import difficulty_classes, generality

    classes = difficulty_classes(table, rng=rng)
    answer.records(
        [
            {
                "class": i,
                "tasks": list(c.tasks),
                "difficulty": c.difficulty,
                "stability": c.stability,
            }
            for i, c in enumerate(classes, 1)
        ],
        title="classes of difficulty, hardest first",
    )
    answer.say(
        "Stability: how much of a class comes back when runs are drawn again; below 0.6 do not "
        "believe it, from 0.85 on it is stable.\n"
    )
    answer.records([g.as_record() for g in generality(table, classes)], title="generality")


@with_groups
def audit(
    source: Source,
    out: Annotated[
        Path | None, typer.Option(help="Write a page, its figures and the text to this folder.")
    ] = None,
    level: Level = LEVEL,
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    *,
    scores: NormalizedScores,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Audit anybody's table of scores: what it holds, and which of its ranks can be believed."""
    from dataclasses import replace

    import numpy as np

    from gnomon.ranking.audits.audit_table import audit as audited
    from gnomon.results import noted

    with answering("audit", as_json=as_json) as answer:
        with noted() as of_reading:
            table = scores.last(source, reading)
        rng = np.random.default_rng(seed)
        with waiting("ranking by every method; Kemeny's may take 10 minutes"):
            found = audited(table, level=level, n_resamples=resamples, rng=rng)
        found = replace(found, notes=tuple(dict.fromkeys([*of_reading, *found.notes])))
        answer.results([finding.as_record() for finding in found.findings])
        answer.say(found.text())
        # Whoever reads the text has read them there.
        for note in found.notes if as_json else ():
            answer.warn(note)
        if out is not None:
            from gnomon.report.audit_page import audit_report

            text = {"audit.txt": found.text() + "\n"}
            page = audit_report(found, source.name, seed=seed).save(out, beside=text)
            answer.say(f"\nwritten to {page}")
