"""Check of a study plan: the screens of each list, and errors, warnings and notes.

A plan with an error cannot become a study; a warning marks a probable mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np

from gnomon.errors import GnomonError, UnknownNameError, counted
from gnomon_board.studies.plan import Series, StudyPlan
from gohr import Board, BoardSpec, available_rules, check, parse, random_way
from gohr.errors import RuleSyntaxError
from gohr.people import SeriesPlan
from gohr.rules import info_of

#: Shapes that a page can draw.
DRAWN_SHAPES = ("SQUARE", "STAR", "CIRCLE", "TRIANGLE")
#: Colours that a page can draw, with a code of two letters each. Blue and black share their first
#: letters, so these are the codes of IEC 60757.
COLOR_CODES = {
    "RED": "RD", "BLACK": "BK", "BLUE": "BU", "YELLOW": "YE", "GREEN": "GN", "ORANGE": "OG",
    "PURPLE": "PU", "PINK": "PK", "WHITE": "WH", "GRAY": "GY",
}  # fmt: skip
#: Number of boards per series that are dealt and played; given boards are all played.
_N_BOARDS = 3
#: Plays of a board by random accepted moves before it counts as impossible to clear. A board that
#: one play in twenty clears is misclassified in 1 of 28,000 cases.
_N_PLAYS = 200


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """Something to correct in a plan, or to know about it."""

    severity: Literal["error", "warning", "note"]
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen that a participant of a list sees."""

    rule_list: str
    number: int
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan with its screens and all findings."""

    screens: tuple[Screen, ...]
    findings: tuple[PlanFinding, ...]

    @property
    def passes(self) -> bool:
        """Whether there are no errors."""
        return all(each.severity != "error" for each in self.findings)

    def records(self) -> list[dict[str, Any]]:
        """Return a record for each screen and each finding."""
        screens = [{"record": "screen", **asdict(each)} for each in self.screens]
        return screens + [{"record": "finding", **asdict(each)} for each in self.findings]

    def __str__(self) -> str:
        lines = [
            f"{screen.rule_list} {screen.number:>2}  {screen.kind:<13} {screen.text}"
            for screen in self.screens
        ]
        lines += [f"{each.severity}: {each.where}: {each.message}" for each in self.findings]
        return "\n".join(lines)


def check_plan(plan: StudyPlan) -> CheckedPlan:
    """Check a plan, and return the screens of each list and all findings, not only the first."""
    screens = [screen for name in plan.lists for screen in _screens(plan, name)]
    findings: list[PlanFinding] = []
    texts = {rule: plan.rule_text(rule) for rule in plan.rules}
    for name, listed in plan.lists.items():
        for number, each in enumerate(listed, 1):
            where = f"{name}, series {number}"
            findings += _look_findings(each.spec(), where)
            most = each.spec().pieces[1] * each.episodes
            if (each.mastery or 0) > most:
                needed = f"mastery needs {each.mastery} successes in a row"
                message = f"{needed}; all boards have {most} pieces"
                findings.append(PlanFinding("warning", where, message))
            if (text := texts[each.rule]) is not None:
                findings += _deal_findings(each, text, where)
    for rule, text in texts.items():
        specs = [e.spec() for listed in plan.lists.values() for e in listed if e.rule == rule]
        findings += _rule_findings(plan, rule, text, specs)
    return CheckedPlan(tuple(screens), (*findings, *_plan_findings(plan)))


def _rule_findings(
    plan: StudyPlan, name: str, text: str | None, specs: Sequence[BoardSpec]
) -> Iterator[PlanFinding]:
    where = f"rule {name}"
    if text is None:
        message = str(UnknownNameError("rule", name, [*plan.rule_texts, *available_rules()]))
        yield PlanFinding("error", where, message)
        return
    shapes = tuple(dict.fromkeys(name for spec in specs for name in spec.shape_palette))
    colors = tuple(dict.fromkeys(name for spec in specs for name in spec.color_palette))
    severities: dict[str, Literal["error", "warning"]] = {"error": "error", "warning": "warning"}
    for finding in check(text, max_states=0, shapes=shapes, colors=colors).findings:
        place = f"{where}, line {finding.line}" if finding.line else where
        yield PlanFinding(severities.get(finding.severity, "note"), place, finding.message)


def _deal_findings(series: SeriesPlan, text: str, where: str) -> Iterator[PlanFinding]:
    try:
        n_boards = max(min(_N_BOARDS, series.episodes), len(series.given))
        game = replace(series.game("", text, 0), episodes=n_boards)
        boards = [Board.from_codes(codes, game.board) for codes in game.boards()]
        yield from _stalemates(text, boards, where)
    except RuleSyntaxError as error:
        if error.source_line not in text.splitlines():  # else the check of the rule reports it
            yield PlanFinding("error", where, str(error))
    except GnomonError as error:
        yield PlanFinding("error", where, str(error))


def _stalemates(text: str, boards: Sequence[Board], where: str) -> Iterator[PlanFinding]:
    """Play each board by random accepted moves; find boards that get stuck, once or always."""
    rule_set = parse(text)
    rng = np.random.default_rng(0)
    n_stuck = most_left = 0
    for number, board in enumerate(boards, 1):
        way = random_way(rule_set, board, rng)
        if way is None:
            continue
        left = len(board.pieces) - len(way)
        n_stuck, most_left = n_stuck + 1, max(most_left, left)
        for _ in range(_N_PLAYS - 1):
            if (way := random_way(rule_set, board, rng)) is None:
                break
            left = min(left, len(board.pieces) - len(way))
        else:
            message = (
                f"board {number} cannot be cleared: each of {_N_PLAYS} random plays left at least "
                f"{counted(left, 'piece')} that no line of the rule accepts"
            )
            yield PlanFinding("error", where, message)
            return
    if n_stuck and "can-stall" not in info_of("", rule_set).tags:
        message = (
            f"{n_stuck} of {counted(len(boards), 'board')} got stuck in a random play, with up to "
            f"{counted(most_left, 'piece')} left that no line accepts; such a board counts as "
            "cleared"
        )
        yield PlanFinding("warning", where, message)


def _look_findings(spec: BoardSpec, where: str) -> Iterator[PlanFinding]:
    """Find shapes and colours that no page can draw."""
    for noun, names, drawn in (
        ("shape", spec.shape_palette, DRAWN_SHAPES),
        ("colour", spec.color_palette, tuple(COLOR_CODES)),
    ):
        for name in names:
            if name not in drawn:
                message = f"the page cannot draw the {noun} {name}; known: {', '.join(drawn)}"
                yield PlanFinding("error", where, message)


def _plan_findings(plan: StudyPlan) -> Iterator[PlanFinding]:
    sizes = {
        name: sum(each.tests if each.evidence else each.episodes for each in listed)
        for name, listed in plan.lists.items()
    }
    if len(set(sizes.values())) > 1:
        least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        message = f"{least} has up to {sizes[least]} boards, {most} up to {sizes[most]}"
        yield PlanFinding("warning", "lists of unequal length", message)
    if plan.recruitment.identity is not None and plan.recruitment.finished is None:
        message = "a participant who has finished gets no code and no address"
        yield PlanFinding("warning", "recruitment", message)


def _screens(plan: StudyPlan, name: str) -> list[Screen]:
    kinds = [("consent", "the consent text")]
    n_pages = len(plan.instructions)
    kinds += [("instructions", f"page {n} of {n_pages}") for n in range(1, n_pages + 1)]
    if plan.quiz is not None:
        quiz = f"{counted(len(plan.quiz.questions), 'question')}, {plan.quiz.tries} tries"
        kinds.append(("quiz", quiz))
    kinds.append(("start", "how to play"))
    for series in plan.lists[name]:
        if series.evidence is not None:
            kinds.append(("evidence", _in_words(series)))
            tests = f"{counted(series.tests, 'board')} of {_pieces(series)}, no replies"
            kinds += [("test boards", tests), ("guess", "at the end"), ("result", "moves")]
            continue
        kinds.append(("series", _in_words(series)))
        if series.guess != "never":
            when = {"board": "after each board", "series": "at the end", "mastery": "at mastery"}
            kinds.append(("guess", when[series.guess]))
        kinds.append(("result", "errors and moves"))
    if plan.demographics:
        kinds.append(("demographics", counted(len(plan.demographics), "question")))
    code = "" if plan.recruitment.finished is None else ", with a completion code"
    kinds.append(("end", f"{'the debriefing' if plan.debrief else 'thanks'}{code}"))
    return [Screen(name, n, *each) for n, each in enumerate(kinds, 1)]


def _pieces(series: SeriesPlan) -> str:
    low, high = series.spec().pieces
    return f"{low} pieces" if low == high else f"{low} to {high} pieces"


def _in_words(series: Series) -> str:
    boards = counted(series.episodes, "board")
    if series.evidence == "own":
        return f"{series.rule}: the player's own attempts"
    if series.evidence is not None:
        return f"{series.rule}: {series.evidence} attempts on {boards}"
    parts = [f"{series.rule}: up to {boards} of {_pieces(series)}"]
    parts += [f"{len(series.given)} given"] if series.given else []
    parts.append(f"{series.feedback} feedback")
    parts += [f"ends at {series.mastery} in a row"] if series.mastery is not None else []
    return ", ".join(parts)
