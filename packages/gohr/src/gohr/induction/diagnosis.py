"""Outcomes of induction: test boards solved, by player, evidence and rule, and where it failed."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from gnomon.errors import check_word
from gnomon.results import FieldRecord, Results, noted

if TYPE_CHECKING:
    from gnomon import ScoreTable
    from gnomon.ranking import Ranking

#: The tester of a player that made the attempts itself.
OWN = "own"
#: What is compared on equal items.
Compared: TypeAlias = Literal["player", "tester"]
#: The row of all groups together.
EVERY = "all"


@dataclass(frozen=True)
class Outcome(FieldRecord):
    """What a player concluded from one body of evidence.

    Parameters
    ----------
    player : str
        Who concludes.
    tester : str
        Who made the attempts: ``own``, or a source of evidence.
    rule, group : str
    trial : int
    n_boards, n_attempts : int
        Amount of evidence; 0 boards if their number was not set, such as of own play until
        mastery, and 0 attempts if a published table lacks it.
    n_tests, n_solved : int
        Test boards, and how many the player's plans clear without an error.
    prefix : float
        Share of a test board's pieces moved before the first error; NaN if unknown.
    m_star : float
        Attempts before the first ten successes in a row; infinite if there were none, NaN for the
        evidence of others.
    states_rule, foretells : float
        As in :class:`gohr.induction.conclusions.Grade`.
    ideal_on_same : float
        Share of the test boards that an ideal observer solves from the same evidence; NaN if the
        rule is outside its space, or the evidence is unknown.
    ideal_on_own : float
        The same for as many attempts of its own choice.
    """

    player: str
    tester: str
    rule: str
    group: str = ""
    trial: int = 0
    n_boards: int = 0
    n_attempts: int = 0
    n_tests: int = 0
    n_solved: int = 0
    prefix: float = math.nan
    m_star: float = math.nan
    states_rule: float = math.nan
    foretells: float = math.nan
    ideal_on_same: float = math.nan
    ideal_on_own: float = math.nan

    @property
    def solved(self) -> float:
        """Share of the test boards that are solved; NaN if there were none."""
        return self.n_solved / self.n_tests if self.n_tests else math.nan

    @property
    def little_evidence(self) -> float:
        """Loss that no player avoids: what the best tests leave open in as many attempts."""
        return 1 - self.ideal_on_own

    @property
    def poor_tests(self) -> float:
        """Loss by the tests made: an ideal observer would have solved more after its own."""
        return self.ideal_on_own - self.ideal_on_same

    @property
    def poor_inference(self) -> float:
        """Loss by the conclusion drawn: an ideal observer solves more from the same evidence."""
        return self.ideal_on_same - self.solved


@dataclass(frozen=True)
class Solved(FieldRecord):
    """Share of the test boards that a player solves, over the rules of a group.

    Parameters
    ----------
    player, tester, group : str
        The group ``all`` has all rules.
    n_boards : int
        Number of boards of evidence; 0 if their number was not set.
    solved, low, high : float
        Mean over rules and trials, with its 95 % interval over rules as clusters; NaN where there
        are too few rules for one.
    prefix, states_rule, foretells : float
        Means of the same outcomes; NaN where not known.
    mastered : float
        Share of the trials with ten successes in a row; NaN for the evidence of others.
    m_star : float
        Median number of attempts before that, infinite if fewer than half mastered the rule.
    n_rules, n : int
        Number of rules, and of outcomes.
    """

    player: str
    tester: str
    group: str
    n_boards: int
    solved: float
    low: float
    high: float
    prefix: float
    states_rule: float
    foretells: float
    mastered: float
    m_star: float
    n_rules: int
    n: int


@dataclass(frozen=True)
class Loss(FieldRecord):
    """Part of the test boards that a player does not solve, by its cause.

    Parameters
    ----------
    player, tester : str
    cause : {"little evidence", "poor tests", "poor inference", "all"}
        The first three add up to the last. ``little evidence``: what an ideal observer does not
        solve after as many attempts of its own choice. ``poor tests``: what it solves less after
        the attempts that were made. ``poor inference``: what the player solves less than it, from
        the same evidence.
    value, low, high : float
        Mean share of the test boards, with its 95 % interval over rules as clusters.
    n_rules, n : int
        Number of rules, and of outcomes. Rules outside the observer's space are left out.
    """

    player: str
    tester: str
    cause: str
    value: float
    low: float
    high: float
    n_rules: int
    n: int


@dataclass(frozen=True)
class Cell(FieldRecord):
    """Share of the test boards solved, by who made the attempts and who drew the conclusion.

    Parameters
    ----------
    player : str
    tests_by, concluded_by : {"player", "observer"}
        The ideal observer makes as many attempts as the player. Where the player concludes from
        the observer's attempts, these are the outcomes of the tester ``informative``: as many
        attempts in a run, and the boards that were asked for elsewhere.
    value, low, high : float
        Mean share, with its 95 % interval over rules as clusters; NaN if it was not measured.
    n_rules, n : int
        Number of rules, and of outcomes.
    """

    player: str
    tests_by: str
    concluded_by: str
    value: float
    low: float
    high: float
    n_rules: int
    n: int


class Induction(Results[Outcome]):
    """Outcomes of players on hidden rules, from evidence of several kinds.

    Examples
    --------
    >>> one = Outcome("m", "random", "cw", "", 0, 5, 90, 5, 2, 0.5, math.nan, 0.0, 0.7, 0.8, 1.0)
    >>> Induction((one,)).solved()[0].solved
    0.4
    """

    columns: ClassVar[tuple[str, ...]] = (
        "player",
        "tester",
        "rule",
        "trial",
        "n_boards",
        "n_solved",
        "n_tests",
        "m_star",
        "states_rule",
        "foretells",
        "ideal_on_same",
        "ideal_on_own",
    )

    def solved(self, *, by_group: bool = True) -> Results[Solved]:
        """Return the share of test boards solved, for each player, tester and number of boards."""
        found = []
        for (player, tester, n_boards), rows in _by(self, "player", "tester", "n_boards"):
            groups = [(EVERY, rows)]
            if by_group:
                groups += [(name, mine) for (name,), mine in _by(rows, "group") if name]
            found += [_solved(player, tester, group, n_boards, mine) for group, mine in groups]
        return Results(tuple(found))

    def cells(self) -> Results[Cell]:
        """Return the four cells of each player that made attempts of its own and concluded.

        Attempts by the player or the observer, conclusions by the player or the observer: the
        losses are differences between them, over the same outcomes.
        """
        found: list[Cell] = []
        rows = [one for one in self if one.n_tests and not math.isnan(one.ideal_on_same)]
        for (player,), mine in _by(rows, "player"):
            own = [one for one in mine if one.tester == OWN]
            shown = [one for one in mine if one.tester == "informative"]
            cells = (
                ("player", "player", own, "solved"),
                ("player", "observer", own, "ideal_on_same"),
                ("observer", "player", shown, "solved"),
                ("observer", "observer", own, "ideal_on_own"),
            )
            for tests_by, concluded_by, of, name in cells if own else ():
                values = (math.nan,) * 3
                if of:
                    values = _over_rules(of, [getattr(one, name) for one in of])
                n_rules = len({one.rule for one in of})
                found.append(Cell(player, tests_by, concluded_by, *values, n_rules, len(of)))
        return Results(tuple(found))

    def losses(self) -> Results[Loss]:
        """Return where each player fails: evidence, tests or inference.

        Outcomes of all numbers of boards count alike. Players that are not measured against an
        ideal observer, such as those of published tables, are left out; those without test boards,
        such as people in transcripts, have no inference that could be poor.
        """
        found: list[Loss] = []
        for (player, tester), rows in _by(self, "player", "tester"):
            known = [one for one in rows if not math.isnan(one.ideal_on_same + one.ideal_on_own)]
            if not known:
                continue
            known = [one for one in known if one.n_tests] or known
            solved, same, best = (
                [getattr(one, name) for one in known]
                for name in ("solved", "ideal_on_same", "ideal_on_own")
            )
            parts = {
                "little evidence": _complement(_over_rules(known, best)),
                "poor tests": _over_rules(known, best, same),
            }
            if known[0].n_tests:
                parts["poor inference"] = _over_rules(known, same, solved)
                parts["all"] = _complement(_over_rules(known, solved))
            n_rules = len({one.rule for one in known})
            found += [
                Loss(player, tester, cause, *values, n_rules, len(known))
                for cause, values in parts.items()
            ]
        return Results(tuple(found))

    def scores(self, compared: Compared = "player") -> ScoreTable:
        """Return the outcomes as items, for :func:`gnomon.compare` and :func:`gnomon.rank`.

        An item is a rule, trial, tester and number of boards, on which players are compared; or a
        rule, trial, player and number of boards, on which ``"tester"`` compares the kinds of
        evidence. Its cluster is the rule, its score the share of test boards solved. Published
        outcomes are items of their own.

        Raises
        ------
        UnknownNameError
            If `compared` is another word.
        """
        check_word("compared", compared, get_args(Compared))
        tested = [one for one in self if one.n_tests]
        other = "tester" if compared == "player" else "player"
        tasks = [
            f"{one.rule}/{one.trial}/{getattr(one, other)}/{one.n_boards}"
            + ("" if one.n_attempts else f"/{getattr(one, compared)}")
            for one in tested
        ]
        names = [getattr(one, compared) for one in tested]
        return _items(names, tasks, [x.solved for x in tested], tested)

    def ranking(self) -> Ranking | None:
        """Rank the players by the test boards that they solve (:func:`gnomon.rank`).

        Players of published tables, whose test boards are not known, are left out. None if fewer
        than two players are left.
        """
        from gnomon import rank

        known = Induction(tuple(one for one in self if one.n_attempts and one.n_tests))
        if len({one.player for one in known}) < 2:
            return None
        return rank(known.scores())

    def sentences(self) -> tuple[str, ...]:
        """Summarise the outcomes in sentences: boards solved, and the largest cause of failure.

        Brackets show 95 % intervals over rules. Outcomes of all numbers of boards count alike.
        """
        said, causes = [], [loss for loss in self.losses() if loss.cause != "all"]
        for (player, tester), rows in _by(self, "player", "tester"):
            tested = [one for one in rows if one.n_tests]
            if not tested:
                continue
            share = _percent(*_over_rules(tested, [one.solved for one in tested]))
            text = f"{player} solves {share} of the test boards (evidence: {tester})"
            if not any(one.n_attempts for one in tested):
                text += "; a count pools all answers to one request, which often agree"
            own = [loss for loss in causes if (loss.player, loss.tester) == (player, tester)]
            largest = max(own, key=lambda loss: loss.value, default=None)
            if largest is not None and largest.value >= 0.005:
                lost = _percent(largest.value, largest.low, largest.high)
                text += f"; most losses are due to {largest.cause}, {lost}"
            said.append(f"{text}.")
        return tuple(said)

    def write(self, path: str | Path) -> None:
        """Write the outcomes as CSV, which :func:`read_outcomes` reads."""
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            names = [field.name for field in fields(Outcome)]
            writer.writerow(names)
            writer.writerows([getattr(one, name) for name in names] for one in self)


def _by(rows: Iterable[Outcome], *names: str) -> Iterator[tuple[tuple[Any, ...], list[Outcome]]]:
    """Yield outcomes by some of their fields, in the order of their first appearance."""
    found: dict[tuple[Any, ...], list[Outcome]] = {}
    for one in rows:
        found.setdefault(tuple(getattr(one, name) for name in names), []).append(one)
    yield from found.items()


def _solved(player: str, tester: str, group: str, n_boards: int, rows: list[Outcome]) -> Solved:
    m_star = np.array([one.m_star for one in rows])
    own = m_star[~np.isnan(m_star)]
    tested = [one for one in rows if one.n_tests]
    value, low, high = _over_rules(tested, [one.solved for one in tested])
    return Solved(
        player,
        tester,
        group,
        n_boards,
        value,
        low,
        high,
        prefix=_mean([one.prefix for one in rows]),
        states_rule=_mean([one.states_rule for one in rows]),
        foretells=_mean([one.foretells for one in rows]),
        mastered=float(np.isfinite(own).mean()) if own.size else math.nan,
        m_star=float(np.median(own)) if own.size else math.nan,
        n_rules=len({one.rule for one in rows}),
        n=len(rows),
    )


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def _percent(value: float, low: float, high: float) -> str:
    ends = "" if math.isnan(low) else f" [{100 * low:.0f}, {100 * high:.0f}]"
    return f"{100 * value:.0f} %{ends}"


def _complement(share: tuple[float, float, float]) -> tuple[float, float, float]:
    value, low, high = share
    return 1 - value, 1 - high, 1 - low


def _items(
    players: list[str], tasks: list[str], scores: list[float], rows: list[Outcome]
) -> ScoreTable:
    """Return shares as items, with the rules as clusters; several people are runs of an item."""
    from gnomon import ScoreTable

    met: Counter[tuple[str, str]] = Counter()
    runs = []
    for cell in zip(players, tasks, strict=True):
        runs.append(str(met[cell]))
        met[cell] += 1
    columns = {
        "algorithm": players,
        "task": tasks,
        "run": runs,
        "score": scores,
        "rule": [one.rule for one in rows],
    }
    return ScoreTable(columns, metric="test boards solved", units="items", cluster="rule")


def _over_rules(rows: list[Outcome], *shares: list[float]) -> tuple[float, float, float]:
    """Return the mean of shares, or a mean minus another one, with its interval over the rules.

    That of a difference is Newcombe's (1998), from the intervals of both shares and the correlation
    of their means by rule, with his correction: variances by themselves are too small near the
    ceiling, where a rare rule may not have been met.
    """
    import gnomon

    rules = {rule: i for i, rule in enumerate(dict.fromkeys(one.rule for one in rows))}
    value, *minus = means = [_mean(one) for one in shares]
    if len(rules) < 2:
        return value - sum(minus), math.nan, math.nan
    names, tasks = ["a", "b"][: len(shares)], [str(k) for k in range(len(rows))]
    players = [name for name in names for _ in rows]
    table = _items(
        players, tasks * len(names), [x for one in shares for x in one], rows * len(names)
    )
    with noted():  # that few rules, or equal outcomes, make an interval wide
        low, high = np.array([(one.low, one.high) for one in gnomon.estimate(table, "mean")]).T
    if not minus:
        return value, float(low[0]), float(high[0])
    place = [rules[one.rule] for one in rows]
    by_rule = [np.bincount(place, one) / np.bincount(place) for one in shares]
    found = np.cov(by_rule)
    shared = found[0, 1] - min(max(found[0, 1], 0.0), 0.5 / len(rules))
    spread = math.sqrt(found[0, 0] * found[1, 1])
    correlation = shared / spread if spread else 0.0
    value, (below, above) = value - minus[0], (means - low, high - means)

    def distance(one: float, other: float) -> float:
        return math.sqrt(max(one**2 + other**2 - 2.0 * correlation * one * other, 0.0))

    return value, value - distance(below[0], above[1]), value + distance(above[0], below[1])
