"""``gnomon rank`` and ``gnomon audit``: who is better, and how far that can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gnomon.cli.answer import Answer, JsonOption, answering
from gnomon.cli.long_search import waiting
from gnomon.cli.option_groups import with_groups
from gnomon.cli.score_options import (
    FigureFile,
    Level,
    ReadOptions,
    Resamples,
    Score,
    Seed,
    Source,
    scores_of,
)

if TYPE_CHECKING:
    import numpy as np

    from gnomon.ranking.pairwise import Contest
    from gnomon.ranking.rank_intervals import Ranking
    from gnomon.scores.table import ScoreTable

__all__ = ["audit", "rank"]


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
    level: Level = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    score: Score = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print a LaTeX table.")] = False,
    figure: FigureFile = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Rank algorithms (or tasks), with intervals of ranks and groups that are not separated."""
    import numpy as np

    views = {"--pairs": pairs, "--methods": methods, "--classes": classes}
    views["--critical-difference"] = critical_difference is not None
    chosen = [name for name, wanted in views.items() if wanted]
    _check_views(chosen, method, by, latex=latex, figure=figure is not None)
    rng = np.random.default_rng(seed)
    with answering("rank", as_json=as_json) as answer:
        table = scores_of(source, score, reading).last_step()
        if classes:
            _answer_classes(answer, table, rng)
            return
        from gnomon.ranking.pairwise import Contest
        from gnomon.ranking.rank_intervals import rank as ranked

        contest = Contest.from_table(table, by=by)
        missing = int(table.frame["score"].is_nan().sum())
        if missing:
            answer.warn(f"{missing} of {len(table)} runs have no score and are left out")
        if pairs:
            _answer_pairs(answer, contest)
        elif methods:
            _answer_methods(answer, contest, as_json)
        elif critical_difference is not None:
            _answer_critical_difference(answer, contest, critical_difference, level, figure)
        else:
            ranking = ranked(
                contest,
                method,
                level=level,
                resampling="runs_and_tasks" if resample_tasks else None,
                n_resamples=resamples,
                rng=rng,
            )
            _answer_ranking(answer, ranking, latex, marginal, figure)


def _check_views(chosen: Sequence[str], method: str, by: str, *, latex: bool, figure: bool) -> None:
    """Refuse options of which one would be passed over in silence."""
    if len(chosen) > 1:
        raise typer.BadParameter(f"expected one view of a ranking, found {' and '.join(chosen)}")
    idle = {
        "--latex": latex and bool(chosen),
        "--figure": figure and chosen not in ([], ["--critical-difference"]),
        "--method": method != "hodge" and bool(chosen),
        "--by task": by == "task" and chosen == ["--classes"],
    }
    for name in (name for name, given in idle.items() if given):
        raise typer.BadParameter(f"{name} says nothing to {chosen[0]}: leave out one of the two")


def _answer_ranking(
    answer: Answer, ranking: Ranking, latex: bool, marginal: bool, figure: Path | None
) -> None:
    """Print ratings, intervals of ranks and tie groups, and draw them if wanted."""
    records = ranking.as_records(marginal=marginal)
    if latex:
        answer.results(records)
        answer.say(_latex(records))
    else:
        answer.results(records)
        ranks = "ranks hold one by one" if marginal else "ranks hold together"
        answer.table(
            [_shown(record, ranking.by) for record in records],
            list(_shown(records[0], ranking.by)),
            title=f"{ranking.method}, {ranking.level:.0%} intervals, {ranks}",
        )
        answer.say(_LEGEND[ranking.by])
        if any(record["low"] is None for record in records):
            answer.say(_NO_INTERVAL)
    if figure is not None:
        from gnomon.report.audit import ranking_figure

        ranking_figure(ranking).write(figure)
        answer.say(f"written to {figure}")


_LEGEND = {
    "algorithm": "The order counts who wins, run against run on common tasks, not by how much: "
    "means and IQMs of scores may order otherwise (gnomon audit compares them).\n"
    "Those who share a letter are not separated by these data.",
    "task": "Harder is the task on which runs of the same algorithm score worse; by how much does "
    "not count.\nThose that share a letter are not separated by these data.",
}

_NO_INTERVAL = (
    "No interval (-): too few runs, or a rating that no resample changes, as of one that wins "
    "every pair of runs."
)


def _answer_critical_difference(
    answer: Answer,
    contest: Contest,
    test: Literal["wilcoxon-holm", "nemenyi"],
    level: float,
    figure: Path | None,
) -> None:
    """Print mean ranks, and groups in which a test separates no pair; draw them if wanted."""
    from gnomon.ranking.critical_difference import critical_difference

    found = critical_difference(contest, test=test, differences=None, level=level)
    records = found.as_records()
    answer.results(records)
    answer.table(
        [
            {
                contest.by: record["name"],
                "mean rank": record["mean_rank"],
                "not separated": "".join(_letter(g) for g in record["groups"]) or "-",
            }
            for record in records
        ],
        [contest.by, "mean rank", "not separated"],
        title=f"{test}, {found.over}, {level:.0%}",
    )
    answer.say(f"Friedman's test that all are alike: p = {found.friedman_p:.3g}")
    if test == "nemenyi":
        answer.say(
            f"critical difference {found.difference:.3g}: it depends on who else is in the table"
        )
    if figure is not None:
        from gnomon.report.audit import critical_difference_figure

        critical_difference_figure(found).write(figure)
        answer.say(f"written to {figure}")


def _shown(record: Mapping[str, Any], by: str) -> dict[str, Any]:
    """Return a record as people read it: ranks and tie groups in words."""
    from gnomon.ranking.rank_intervals import rank_range

    return {
        by: record["name"],
        "rating": record["rating"],
        "low": record["low"],
        "high": record["high"],
        "rank": rank_range(record["rank_low"], record["rank_high"]),
        "tie group": "".join(_letter(g) for g in record["groups"]),
    }


def _letter(group: int) -> str:
    """Return a, b, ..., z, a2, ...: what a reader compares more easily than numbers."""
    turn, letter = divmod(group - 1, 26)
    return chr(ord("a") + letter) + (str(turn + 1) if turn else "")


def _latex(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a table for a paper (booktabs), tie groups as superscripts."""
    from gnomon.ranking.rank_intervals import rank_range

    rows = []
    for r in records:
        groups = "".join(_letter(g) for g in r["groups"])
        rating = "--" if r["rating"] is None else f"${r['rating']:.2f}$"
        ends = "--" if r["low"] is None else f"$[{r['low']:.2f}, {r['high']:.2f}]$"
        ranks = rank_range(r["rank_low"], r["rank_high"]).replace(" to ", "--")
        rows.append(f"{_escaped(r['name'])}$^{{{groups}}}$ & {rating} & {ends} & {ranks} \\\\")
    head = r"\begin{tabular}{lrrl}" + "\n\\toprule\nname & rating & interval & rank \\\\\n\\midrule"
    return "\n".join([head, *rows, r"\bottomrule", r"\end{tabular}"])


def _escaped(text: str) -> str:
    """Return a name as LaTeX prints it."""
    words: dict[str, str | int | None] = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
    plain: dict[str, str | int | None] = {letter: "\\" + letter for letter in "&%$#_{}"}
    return text.translate(str.maketrans(plain | words))


def _answer_pairs(answer: Answer, contest: Contest) -> None:
    """Print every pair: P(better), ease ratio and test."""
    from gnomon.ranking.connection import require_meetings
    from gnomon.ranking.significance import compare_pairs
    from gnomon.ranking.tournament import Tournament

    require_meetings(Tournament.of(contest))
    records = [pair.as_record() for pair in compare_pairs(contest)]
    for record in records:
        del record["ground"]
    columns = ["a", "b", "probability", "ease_ratio", "n_grounds", "p_value", "p_adjusted"]
    answer.records(records, columns, title="two-sided Mann-Whitney tests, Holm's correction")


def _answer_methods(answer: Answer, contest: Contest, as_json: bool) -> None:
    """Print the place of everyone by every method; one column each."""
    from gnomon.ranking.alpha_rank import alpha_rank
    from gnomon.ranking.method_orders import in_words, orders_by_method
    from gnomon.ranking.methods import METHODS
    from gnomon.ranking.tournament import Tournament

    tournament = Tournament.of(contest)
    with waiting("ranking by every method; Kemeny's may take 10 minutes"):
        orders = orders_by_method(contest, tournament)
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
    from gnomon.ranking.difficulty_classes import difficulty_classes, generality

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
    answer.records([g.as_record() for g in generality(table, classes)], title="generality")


@with_groups
def audit(
    source: Source,
    out: Annotated[
        Path | None, typer.Option(help="Write a page, its figures and the text to this folder.")
    ] = None,
    level: Level = 0.95,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    score: Score = None,
    *,
    reading: ReadOptions,
    as_json: JsonOption = False,
) -> None:
    """Audit anybody's table of scores: what it holds, and which of its ranks can be believed."""
    import numpy as np

    from gnomon.ranking.audit import audit as audited

    with answering("audit", as_json=as_json) as answer:
        table = scores_of(source, score, reading)
        rng = np.random.default_rng(seed)
        with waiting("ranking by every method; Kemeny's may take 10 minutes"):
            found = audited(table, level=level, n_resamples=resamples, rng=rng)
        answer.results([finding.as_record() for finding in found.findings])
        answer.say(found.text())
        for note in found.notes:
            answer.warn(note)
        if out is not None:
            from gnomon.report.audit import audit_report

            page = audit_report(found, source.name, seed=seed).save(out)
            (out / "audit.txt").write_text(found.text() + "\n", encoding="utf-8")
            answer.say(f"\nwritten to {page}")
