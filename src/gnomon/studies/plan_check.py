"""Check of a plan before anybody plays: what each list will do, screen by screen, and what is odd.

Errors are what cannot be played; warnings what can, and is hardly meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

import numpy as np

from gnomon.errors import GnomonError, RuleSyntaxError, UnknownNameError, counted, joined
from gnomon.game.board import COLORS, SHAPES, Board, BoardSpec
from gnomon.game.rule_check import check_rule
from gnomon.game.stalemate import random_way
from gnomon.rules.catalogue import available_rules, info_of, load_rule_text
from gnomon.rules.parser import parse
from gnomon.studies.piece_looks import DRAWN_COLORS, DRAWN_SHAPES
from gnomon.studies.plan.page_html import is_html, pictures_of_html
from gnomon.studies.plan.series_plan import (
    Bonus,
    Doubling,
    Likelihood,
    Mastery,
    MemoryAids,
    PartnerPlan,
    SeriesPlan,
)
from gnomon.studies.plan.study_plan import StudyPlan
from gnomon.studies.play.board_dealing import deal_boards
from gnomon.studies.play.rewards import points_of

#: Looks up the text of ``season/rule``; None where there is no server to ask.
RuleFinder = Callable[[str], str | None]
#: So many boards of a series are dealt and played to see whether they get stuck.
_MOST_TRIED = 3


@dataclass(frozen=True, slots=True)
class PlanFinding:
    """Something to mend in a plan, or to know of it."""

    severity: Literal["error", "warning", "note"]
    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Screen:
    """What a participant of a list sees, in order; ``most_points`` is the best possible."""

    rule_list: str
    number: int
    kind: str
    text: str
    most_points: int | None = None


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan with its screens and all that was found.

    Examples
    --------
    >>> plan = StudyPlan(name="p", title="P", consent="Yes.", lists={"a": ["clockwise"]})
    >>> found = check_plan(plan)
    >>> found.passes, [screen.kind for screen in found.screens]
    (True, ['consent', 'series', 'end'])
    """

    screens: tuple[Screen, ...]
    findings: tuple[PlanFinding, ...]

    @property
    def passes(self) -> bool:
        """Whether there is nothing to mend."""
        return all(each.severity == "note" for each in self.findings)

    def records(self) -> list[dict[str, Any]]:
        """Return a record for each screen and each finding."""
        screens = [{"record": "screen", **asdict(each)} for each in self.screens]
        return screens + [{"record": "finding", **asdict(each)} for each in self.findings]

    def __str__(self) -> str:
        lines = [
            f"{screen.rule_list} {screen.number:>2}  {screen.kind:<13} {screen.text}"
            + ("" if screen.most_points is None else f"; at most {screen.most_points} points")
            for screen in self.screens
        ]
        lines += [f"{each.severity}: {each.where}: {each.message}" for each in self.findings]
        return "\n".join(lines)


def check_plan(plan: StudyPlan, find_rule: RuleFinder = lambda name: None) -> CheckedPlan:
    """Check a plan, and lay out the screens of each of its lists.

    Parameters
    ----------
    plan : StudyPlan
    find_rule : callable, optional
        Returns the text of a rule of a season.

    Returns
    -------
    CheckedPlan
        Every finding, not the first alone.
    """
    findings: list[PlanFinding] = []
    screens: list[Screen] = []
    checked_rules: dict[str, list[PlanFinding]] = {}
    texts: dict[str, str | None] = {}
    for name in plan.lists:
        screens += _screens(plan, name)
        for number, series in enumerate(plan.series(name), 1):
            where = f"{name}, series {number}"
            findings += _look_findings(series, plan, where)
            findings += _series_findings(series, where)
            if series.rule not in checked_rules:
                text = texts[series.rule] = rule_text(plan, series.rule, find_rule)
                specs = [each.spec() for each in _with(plan, series)]
                checked_rules[series.rule] = list(_rule_findings(series.rule, text, specs))
            if (text := texts[series.rule]) is not None:
                findings += _deal_findings(series, text, where)
    findings += [each for found in checked_rules.values() for each in found]
    return CheckedPlan(tuple(screens), tuple(findings + list(_list_findings(plan))))


def _with(plan: StudyPlan, series: SeriesPlan) -> Iterator[SeriesPlan]:
    """Return every series of a plan that has the rule of one."""
    everything = (each for name in plan.lists for each in plan.series(name))
    return (each for each in everything if each.rule == series.rule)


def rule_text(plan: StudyPlan, name: str, find_rule: RuleFinder) -> str | None:
    """Return the text of a rule: of the plan, of the library, or of a season."""
    if name in plan.rule_texts:
        return plan.rule_texts[name]
    if name in available_rules():
        return load_rule_text(name)
    return find_rule(name)


def _rule_findings(
    name: str, text: str | None, specs: Sequence[BoardSpec]
) -> Iterator[PlanFinding]:
    where = f"rule {name}"
    if text is None:
        in_season = "/" in name or name.startswith("puzzle-")
        severity: Literal["note", "error"] = "note" if in_season else "error"
        remedy = "looked up when the study is made"
        if not in_season:
            remedy = str(UnknownNameError("rule", name, available_rules()))
        yield PlanFinding(severity, where, remedy)
        return
    has = frozenset().union(*(spec.properties for spec in specs))
    palettes = {}
    if not any(spec.images for spec in specs):  # whose shapes and colours would be properties
        palettes["shapes"] = [name for spec in specs for name in spec.shape_palette]
        palettes["colors"] = [name for spec in specs for name in spec.color_palette]
    for finding in check_rule(name, text, max_states=0, properties=has, **palettes).findings:
        severities: dict[str, Literal["error", "warning", "note"]]
        severities = {"error": "error", "warning": "warning"}
        place = f"{where}, line {finding.line}" if finding.line else where
        yield PlanFinding(severities.get(finding.severity, "note"), place, finding.message)


def _deal_findings(series: SeriesPlan, text: str, where: str) -> Iterator[PlanFinding]:
    try:
        spec, n_boards = series.spec(), min(_MOST_TRIED, series.episodes)
        dealt = deal_boards(spec, series.terms(), n_boards, seed=0, rule=text)
        yield from _stalemates(text, [Board.from_codes(codes, spec) for codes in dealt], where)
    except RuleSyntaxError as error:
        if text not in (series.train, series.test) and error.source_line in text.splitlines():
            return  # Told of the rule itself.
        yield PlanFinding("error", where, str(error))
    except GnomonError as error:
        yield PlanFinding("error", where, str(error))


def _stalemates(text: str, boards: Sequence[Board], where: str) -> Iterator[PlanFinding]:
    """Play each board by accepted moves at random, and find pieces that nothing accepts."""
    rule_set = parse(text)
    if "can-stall" in info_of("", rule_set).tags:
        return
    ways = [random_way(rule_set, board, np.random.default_rng(0)) for board in boards]
    left = [
        len(board.pieces) - len(way)
        for board, way in zip(boards, ways, strict=True)
        if way is not None
    ]
    if left:
        message = (
            f"{len(left)} of {counted(len(boards), 'board')} tried got stuck, with up to "
            f"{counted(max(left), 'piece')} left that no line accepts; such a board counts as "
            "cleared"
        )
        yield PlanFinding("warning", where, message)


def _look_findings(series: SeriesPlan, plan: StudyPlan, where: str) -> Iterator[PlanFinding]:
    """Find shapes and colours that would look alike, for nobody has said how they look."""
    spec = series.spec()
    if spec.images:
        return
    for noun, names, drawn, field in (
        ("shape", spec.shape_palette, (*DRAWN_SHAPES, *plan.shape_files), "shape_files"),
        ("colour", spec.color_palette, (*DRAWN_COLORS, *plan.color_values), "color_values"),
    ):
        for name in names:
            if name not in drawn:
                message = f"no browser draws the {noun} {name}; known: {', '.join(drawn)}"
                yield PlanFinding("error", where, f"{message}; '{field}' adds more")


def _series_findings(series: SeriesPlan, where: str) -> Iterator[PlanFinding]:
    spec = series.spec()
    most = spec.pieces[1] * series.episodes
    needed = _moves_to_end(series)
    if needed > most:
        message = f"mastery needs {needed} moves in a row, all boards have {most} pieces"
        yield PlanFinding("warning", where, message)
    paid = series.incentive is not None and not isinstance(series.incentive, Mastery)
    if paid and series.points is None:
        yield PlanFinding("warning", where, "an incentive without points is worth nothing")
    if series.ends_early and series.give_up_at is not None and 0 < series.give_up_at < 999:
        yield PlanFinding(
            "warning", where, "who gives up has not mastered the rule, and may have been about to"
        )
    if isinstance(series.incentive, Bonus) and series.incentive.activate_at > series.episodes:
        yield PlanFinding("warning", where, "the bonus can be started after the last board only")


def _moves_to_end(series: SeriesPlan) -> int:
    match series.incentive:
        case Doubling(x4=x4):
            return x4
        case Mastery(streak=int(streak), ratio=None):
            return streak
    return 0


def _list_findings(plan: StudyPlan) -> Iterator[PlanFinding]:
    sizes = {name: sum(each.episodes for each in plan.series(name)) for name in plan.lists}
    if len(set(sizes.values())) > 1:
        least, most = min(sizes, key=sizes.__getitem__), max(sizes, key=sizes.__getitem__)
        message = f"{least} has up to {sizes[least]} boards, {most} up to {sizes[most]}"
        yield PlanFinding("warning", "lists of unequal length", message)
    partners = [s.partner for name in plan.lists for s in plan.series(name) if s.partner]
    people = [each for each in partners if each.kind == "person"]
    if people and len(plan.lists) > 1:
        message = f"only people of one list are paired, and there are {len(plan.lists)} lists"
        yield PlanFinding("warning", "partner", message)
    leaves = any(each.otherwise == "leave" for each in people)
    if leaves and plan.recruitment.unpaired is None:
        message = "nothing is given to who finds no partner, or loses one"
        yield PlanFinding("warning", "recruitment", message)
    for page in (plan.consent, *plan.instructions, plan.demographics_page, plan.debrief):
        yield from _page_findings(page, plan.pictures)
    yield from _condition_findings(plan)
    if plan.recruitment.identity is not None and plan.recruitment.finished is None:
        yield PlanFinding("warning", "recruitment", "nothing is given to who has finished")


def _condition_findings(plan: StudyPlan) -> Iterator[PlanFinding]:
    """Find conditions on answers that nobody can choose."""
    choices = {each.name: each.values for each in plan.demographics if each.choices}
    for question in plan.demographics:
        for one in question.condition.comparisons() if question.condition else ():
            offered = choices.get(one.question, ())
            can_hold = any(one.holds({one.question: value}) for value in offered)
            if one.values and offered and not can_hold:
                asked = f"{question.visible_if!r}: {one.question} is one of {', '.join(offered)}"
                message = f"visible_if {asked}, and never {one.operator} {' or '.join(one.values)}"
                yield PlanFinding("warning", f"question {question.name}", message)


def _page_findings(page: str, pictures: Collection[str]) -> Iterator[PlanFinding]:
    for name in pictures_of_html(page) if is_html(page) else _pictures(page):
        if name not in pictures and PurePosixPath(name).name not in pictures:
            yield PlanFinding("error", "pages", f"there is no picture {name!r}")
    alone = re.fullmatch(r"!\[(.*)\]\([^)]*\)", page.strip())
    if alone is not None:
        message = f"a page that is a picture alone: a screen reader says {alone[1]!r} and no more"
        yield PlanFinding("note", "pages", message)


def _pictures(page: str) -> Iterator[str]:
    for part in page.split("](")[1:]:
        name = part.partition(")")[0].strip()
        if name.lower().endswith((".png", ".jpg", ".jpeg", ".gif")) and ":" not in name:
            yield name


def _screens(plan: StudyPlan, name: str) -> list[Screen]:
    kinds: list[tuple[str, str, int | None]] = [("consent", "the consent text", None)]
    n_pages = len(plan.instructions)
    kinds += [("instructions", f"page {n} of {n_pages}", None) for n in range(1, n_pages + 1)]
    if plan.quiz is not None:
        quiz = f"{counted(len(plan.quiz.questions), 'question')}, {plan.quiz.tries} tries"
        kinds.append(("quiz", quiz, None))
    waits = False
    for series in plan.series(name):
        if series.partner is not None and series.partner.kind == "person" and not waits:
            kinds.append(("waiting room", _waiting_in_words(series.partner), None))
            waits = True
        kinds.append(("series", _in_words(series), _most_points(series)))
        if series.guess != "never":
            when = {"board": "after each board", "series": "at the end", "mastery": "at mastery"}
            kinds.append(("guess", when[series.guess], None))
    if plan.demographics:
        n_depend = sum(each.condition is not None for each in plan.demographics)
        some = f", {n_depend} of which only after certain answers" if n_depend else ""
        kinds.append(("demographics", counted(len(plan.demographics), "question") + some, None))
    completion = plan.recruitment.finished
    code = "" if completion is None else ", with a completion code"
    kinds.append(("end", f"{'the debriefing' if plan.debrief else 'thanks'}{code}", None))
    return [Screen(name, n, kind, text, most) for n, (kind, text, most) in enumerate(kinds, 1)]


def _in_words(series: SeriesPlan) -> str:
    spec = series.spec()
    pieces = _range_in_words(spec.pieces)
    parts = [f"{series.rule}: up to {counted(series.episodes, 'board')} of {pieces} pieces"]
    if not series.given and not spec.images:
        kinds = ("shapes", spec.shapes, SHAPES), ("colours", spec.colors, COLORS)
        palettes = spec.shape_palette, spec.color_palette
        for (noun, number, usual), palette in zip(kinds, palettes, strict=True):
            n = f"{_range_in_words(number)} {noun}" if any(number) else f"any {noun}"
            of = f" of {', '.join(palette).lower()}" if palette != usual else ""
            parts.append(n + of)
    if series.given:
        parts.append(f"{len(series.given)} given, {series.order}")
    purposes = {"for training": series.train, "for testing": series.test}
    parts += [purpose for purpose, condition in purposes.items() if condition]
    parts += ["of pictures"] if series.spec().images else []
    parts += ["pieces share cells"] if series.spec().crowded else []
    parts.append(f"{series.feedback} feedback")
    parts += [f"picks cost {series.pick_cost:g}"] if series.pick_cost is not None else []
    parts.append(_memory_in_words(series.memory))
    parts += ["hints of a bot"] if series.bot_assist else []
    if series.partner is not None:
        chat = ", chat" if series.partner.chat else ""
        parts.append(f"{series.partner.play} turns with a {series.partner.kind}{chat}")
    parts += [_incentive_in_words(series)] if series.incentive else []
    if series.give_up_at is not None:
        always = series.give_up_at >= series.episodes
        until = "between boards" if always else f"until board {series.give_up_at}"
        parts.append(f"giving up {until}" if series.give_up_at else "no giving up")
    if series.continues:
        parts.append("goes on in the next")
    return ", ".join(parts)


def _range_in_words(number: tuple[int, int]) -> str:
    low, high = number
    return str(low) if low == high else f"{low} to {high}"


def _memory_in_words(memory: MemoryAids) -> str:
    cells = {"order": "numbers on cells", "tick": "ticks on cells", "nothing": ""}[memory.cells]
    stack = f"{counted(memory.stack, 'piece')} beside a bucket" + " by number" * memory.numbers
    shown = [stack if memory.stack else "", cells, "attempts listed" * memory.attempts]
    return f"memory: {joined([each for each in shown if each])}" if any(shown) else "no memory aid"


def _waiting_in_words(partner: PartnerPlan) -> str:
    after = {"alone": "alone", "bot": "with a bot", "leave": "to the end of the study"}
    return (
        f"up to {partner.wait_s:g} s for a partner; without one, or after {partner.idle_s:g} s "
        f"without an attempt of the partner, on {after[partner.otherwise]}"
    )


def _incentive_in_words(series: SeriesPlan) -> str:
    match series.incentive:
        case Doubling(x2=x2, x4=x4):
            return f"doubled at {x2} in a row, quadrupled and ended at {x4}"
        case Likelihood(x2=x2, x4=x4):
            return f"doubled at a ratio of {x2:g}, quadrupled and ended at {x4:g}"
        case Bonus(activate_at=at, boards=boards, points=points):
            return f"bonus from board {at}: {points} points for {counted(boards, 'board')}"
        case Mastery(streak=streak, ratio=ratio):
            ways = [] if streak is None else [f"{streak} in a row"]
            ways += [] if ratio is None else [f"a ratio of {ratio:g}"]
            return f"ends at {' or '.join(ways)}"
    return ""


def _most_points(series: SeriesPlan) -> int | None:
    """Return the points of somebody who makes no error and masters the rule on the last board."""
    if series.points is None:
        return None
    factor = 4 if isinstance(series.incentive, Doubling | Likelihood) else 1
    boards = series.episodes + series.bonus_boards
    extra = series.incentive.points if isinstance(series.incentive, Bonus) else 0
    return factor * (boards * points_of(series.points, 0.0) + extra)
