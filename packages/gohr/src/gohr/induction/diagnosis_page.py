"""The page of an induction: boards solved by player and evidence, causes of failure, rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from gnomon.errors import counted
from gnomon.plot import Dot, Figure, Panel, draw_dots, frame
from gnomon.plot.style import FULL_WIDTH
from gnomon.ranking import Ranking
from gnomon.reports import Answer, Report, Section, Table, try_place
from gohr.induction.diagnosis import EVERY, Cell, Induction, Loss, Solved

_ROW = 0.3


def write_induction(found: Induction, out: str | Path) -> Path:
    """Write the page of outcomes to a folder, or alone to a .html file; return its path."""
    try_place(out)
    solved, losses = found.solved(), found.losses()
    players = list(dict.fromkeys(one.player for one in found))
    sections = [
        Section(
            "solved",
            "Test boards solved",
            (
                "The share of the test boards that a player's plans clear without an error, with "
                "95 % intervals over rules.",
            ),
            tables=(_solved_table(list(solved)),),
            figures=(_solved_figure([one for one in solved if one.group == EVERY]),),
        )
    ]
    if losses:
        sections.append(losses_section(losses, found.cells()))
    ranking = found.ranking()
    if ranking is not None:
        sections.append(Section("ranks", "Ranks", tables=(_rank_table(ranking),)))
    sections.append(Section("rules", "Rule by rule", tables=(_rule_table(found),)))
    n_rules = len({one.rule for one in found})
    page = Report(
        "What players conclude about hidden rules",
        f"{', '.join(players)}; {n_rules} rules",
        (Answer("Who solves the test boards, and where do players fail?", found.sentences()),),
        tuple(sections),
        source="the outcomes",
    )
    return page.save(out)


def losses_section(losses: Sequence[Loss], cells: Sequence[Cell]) -> Section:
    """Return the section of a page that shows where players fail."""
    return Section(
        "losses",
        "Where players fail",
        (
            "Little evidence: the share that an ideal observer does not solve after as many "
            "attempts of its own choice. Poor tests: the share that it loses if it sees the "
            "player's attempts instead. Poor inference: the further share that the player loses "
            "from the same attempts. The three add up to the share of boards not solved.",
        ),
        tables=(*((_cell_table(cells),) if cells else ()), _loss_table(losses)),
        figures=(_loss_figure(losses),),
    )


def _solved_table(rows: list[Solved]) -> Table:
    """Return a row for each player and body of evidence, with a column for each group of rules."""
    groups = [EVERY, *dict.fromkeys(one.group for one in rows if one.group != EVERY)]
    found: dict[tuple[str, str, int], dict[str, Solved]] = {}
    for one in rows:
        found.setdefault((one.player, one.tester, one.n_boards), {})[one.group] = one
    return Table(
        "Share of test boards solved, by group of rules",
        ("player", "evidence", "boards", *groups, "rule stated", "median m*"),
        tuple(
            (
                player,
                tester,
                str(n_boards or "-"),
                *(_interval(x.solved, x.low, x.high) if x else "-" for x in map(own.get, groups)),
                _share(own[EVERY].states_rule),
                _attempts(own[EVERY].m_star),
            )
            for (player, tester, n_boards), own in found.items()
        ),
        "m*: attempts before the first ten successes in a row, of a player's own attempts.",
        name="solved",
        numbers=[one.as_record() for one in rows],
    )


def _attempts(m_star: float) -> str:
    if math.isnan(m_star):
        return "-"
    return f"{m_star:.4g}" if math.isfinite(m_star) else "not reached"


def _cell_table(cells: Sequence[Cell]) -> Table:
    """Return a row for each player, with a column for each of its four cells."""
    columns = list(dict.fromkeys((one.tests_by, one.concluded_by) for one in cells))
    rows: dict[str, list[str]] = {}
    for one in cells:
        rows.setdefault(one.player, []).append(_interval(one.value, one.low, one.high))
    return Table(
        "Test boards solved, by who made the attempts and who concluded",
        ("player", *(f"{tests}'s attempts, {by} concludes" for tests, by in columns)),
        tuple((player, *shares) for player, shares in rows.items()),
        "Brackets show 95 % intervals over rules. The observer makes as many attempts as the "
        "player. The player concludes from the observer's attempts in outcomes with "
        "“informative” evidence.",
        name="cells",
        numbers=[one.as_record() for one in cells],
    )


def _loss_table(rows: Sequence[Loss]) -> Table:
    """Return a row for each player and tester, with a column for each cause."""
    causes = list(dict.fromkeys(one.cause for one in rows))
    found: dict[tuple[str, str], dict[str, str]] = {}
    for one in rows:
        share = _interval(one.value, one.low, one.high)
        found.setdefault((one.player, one.tester), {})[one.cause] = share
    return Table(
        "Test boards not solved, by cause",
        ("player", "evidence", *causes),
        tuple(
            (player, tester, *(shares.get(cause, "-") for cause in causes))
            for (player, tester), shares in found.items()
        ),
        name="losses",
        numbers=[one.as_record() for one in rows],
    )


def _rank_table(ranking: Ranking) -> Table:
    return Table(
        "Ranks by test boards solved, over all evidence",
        ("player", "solved", "rank", "tier"),
        tuple(
            (one.name, _interval(one.value, one.low, one.high), row["rank"], row["tier"])
            for one, row in zip(ranking, ranking.rows(), strict=True)
        ),
        "Players in the same tier are not significantly different.",
        name="ranks",
        numbers=ranking.as_records(),
    )


def _rule_table(found: Induction) -> Table:
    """Return solved boards by rule, a column for each player and tester."""
    columns = list(dict.fromkeys((one.player, one.tester) for one in found))
    cells: dict[str, dict[tuple[str, str], list[int]]] = {}
    for one in found:
        counts = cells.setdefault(one.rule, {}).setdefault((one.player, one.tester), [0, 0])
        counts[0] += one.n_solved
        counts[1] += one.n_tests
    return Table(
        "Test boards solved",
        ("rule", *(f"{player}, {tester}" for player, tester in columns)),
        tuple(
            (rule, *(_counts(row.get(column)) for column in columns)) for rule, row in cells.items()
        ),
        "In published tables, the boards of all answers to one request are counted: 10 of 15 "
        "means three answers to five boards each.",
        name="rules",
        numbers=[one.as_record() for one in found],
    )


def _counts(counts: list[int] | None) -> str:
    return f"{counts[0]} of {counts[1]}" if counts and counts[1] else "-"


def _share(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _interval(value: float, low: float, high: float) -> str:
    ends = "" if math.isnan(low) else f" [{low:.2f},\xa0{high:.2f}]"
    return f"{_share(value)}{ends}"


def _solved_figure(rows: list[Solved]) -> Figure:
    known = [one for one in rows if not math.isnan(one.solved)]
    dots = [
        Dot(
            f"{one.player}, {one.tester}"
            + (f", {counted(one.n_boards, 'board')}" if one.n_boards else ""),
            one.solved,
            one.low,
            one.high,
        )
        for one in known
    ]
    return _dots(
        "solved", dots, "Share of the test boards solved", [one.as_record() for one in known]
    )


def _loss_figure(rows: Sequence[Loss]) -> Figure:
    dots = [
        Dot(f"{one.player}, {one.tester}: {one.cause}", one.value, one.low, one.high)
        for one in rows
        if one.cause != "all"
    ]
    return _dots("losses", dots, "Share of the test boards lost", [x.as_record() for x in rows])


def _dots(name: str, dots: list[Dot], title: str, rows: list[dict[str, Any]]) -> Figure:
    def draw(ax: Axes) -> None:
        draw_dots(ax, dots, neutral=0.0)
        ax.set_xlabel(title[0].lower() + title[1:])

    panel = Panel(draw, height=_ROW * len(dots) + 0.9)
    figure = frame(
        [panel], None,
        name=name,
        title=title,
        caption="Dots with 95 % intervals over rules.",
        alt=title,
        rows=rows,
        columns=1,
        width=FULL_WIDTH,
        wide=True,
    )  # fmt: skip
    assert isinstance(figure, Figure)
    return figure
