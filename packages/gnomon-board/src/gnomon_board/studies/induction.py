"""Series of a study with evidence and test boards without replies, and their outcomes.

A player sees the same evidence and test boards as learners and models in the same trial. Test
boards are played under a rule that accepts every move, so that no reply is given. Evidence is made
in a process of its own, since its players need Numba, which the server does not load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from gnomon_board.computation import Computation
from gnomon_board.schema import PlaySession, Study, StudyAssignment
from gnomon_board.studies.plan import StudyPlan, pieces_of
from gnomon_board.studies.play import StoredGame, rebuild_game
from gohr import N_BUCKETS, N_CELLS, Board, BoardSpec, TrialLog
from gohr.experiments import RuleEntry, load_suite
from gohr.people import Game, SeriesTerms

if TYPE_CHECKING:
    from gohr.induction import Induction

_ANY = "(*, *, *, *, *)"
#: The columns of a log, with their types.
_COLUMNS = {
    "boards": np.uint8, "n_attempts": np.int64, "actions": np.uint8, "outcomes": np.int8,
    "finish": np.int8,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Evidence:
    """Attempts that a player is shown before the test boards, and how they were made."""

    source: str
    rule: RuleEntry
    trial: int
    seed: int
    n_boards: int
    log: TrialLog

    @classmethod
    def of(cls, game: StoredGame) -> Evidence | None:
        """Return the evidence of a game; None if it has no test boards."""
        if game.row.evidence is None:
            return None
        kept = dict(game.row.evidence)
        rule, columns = RuleEntry(game.row.rule, kept.pop("text")), kept.pop("log")
        log = TrialLog(*(np.array(columns[name], dtype) for name, dtype in _COLUMNS.items()))
        log = replace(log, boards=log.boards.reshape(-1, N_CELLS))  # also if there are none
        return cls(rule=rule, log=log, **kept)


def series_game(
    session: Session, player: StudyAssignment, plan: StudyPlan, series: int, shown: str
) -> tuple[Game, dict[str, Any] | None]:
    """Return the game of a series for a player, and the evidence that its row keeps.

    ``shown`` is the name that the player sees. If the attempts are the evidence of the next series,
    they are made on the boards of that evidence.
    """
    listed = plan.lists[player.rule_list]
    each, text = listed[series], plan.rule_text(listed[series].rule) or ""
    game, spec = each.game(shown, text, 0), each.board.spec()
    is_followed = any(after.evidence == "own" for after in listed[series + 1 : series + 2])
    if each.evidence is None and not is_followed:
        return game, None
    # The players of a list take the trials of the plan in turn.
    earlier = select(func.count(StudyAssignment.id)).where(
        StudyAssignment.study_id == player.study_id,
        StudyAssignment.rule_list == player.rule_list,
        StudyAssignment.id < player.id,
    )
    trial, counts = (session.scalar(earlier) or 0) % plan.trials, (each.episodes, each.tests)
    boards, tests, log = _drawn(text, each.evidence, *counts, trial, plan.seed, spec)
    if each.evidence is None:
        return replace(game, terms=_dealing(game.terms, boards, spec)), None
    if log is None:
        played = PlaySession.assignment_id == player.id, PlaySession.series == series - 1
        row = session.scalars(select(PlaySession).where(*played)).one()
        log = rebuild_game(session, row).session.log()
    evidence = {
        "source": each.evidence,
        "text": text,
        "trial": trial,
        "seed": plan.seed,
        "n_boards": 0 if each.evidence == "own" else each.episodes,
        "log": {name: getattr(log, name).tolist() for name in _COLUMNS},
    }
    terms = _dealing(SeriesTerms(memory_aid=each.memory_aid, guess="series"), tests, spec)
    planned = replace(game, rule_text=_ANY, episodes=each.tests, horizon=N_CELLS, terms=terms)
    return planned, evidence


def make_first_evidence(plan: StudyPlan) -> None:
    """Make evidence of a plan, so that the engine is compiled before a player waits for it."""
    for each in (each for listed in plan.lists.values() for each in listed):
        if each.evidence not in (None, "own"):
            counts, spec = (each.episodes, each.tests), each.board.spec()
            _drawn(plan.rule_text(each.rule), each.evidence, *counts, 0, plan.seed, spec)


_Codes = npt.NDArray[np.uint8]
_Drawn = tuple[_Codes, _Codes, TrialLog | None]


@lru_cache(maxsize=100)
def _drawn(*given: Any) -> _Drawn:
    """Return what :func:`_draw` returns in a process of its own."""
    return Computation(_draw, *given).result()


def _draw(
    text: str,
    source: str | None,
    n_boards: int,
    n_tests: int,
    trial: int,
    seed: int,
    spec: BoardSpec,
) -> _Drawn:
    """Return the boards of evidence and the test boards of a trial, and attempts of a source."""
    from gohr.induction import RuleTrial, evidence

    drawn = RuleTrial(RuleEntry("", text), trial, seed, spec)
    boards, tests = drawn.boards("evidence", n_boards), drawn.boards("test", n_tests)
    if source in (None, "own"):
        return boards, tests, None
    return boards, tests, evidence(drawn, cast(Any, source), n_boards)


def _dealing(terms: SeriesTerms, boards: _Codes, spec: BoardSpec) -> SeriesTerms:
    """Return terms with these boards as the given ones."""
    given = [pieces_of(Board.from_codes(codes, spec)) for codes in boards.tolist()]
    return SeriesTerms.model_validate({**terms.model_dump(), "given": given})


def outcomes_of(session: Session, study: Study) -> Induction:
    """Return the outcome of each game with test boards; all people count as one player.

    Unfinished test boards count as not solved, including those of players who left. Games of
    excluded players are left out.
    """
    from gohr.induction import Conclusion, Induction, RuleTrial, grade, outcome_of

    rows = session.scalars(
        select(PlaySession)
        .join(StudyAssignment, PlaySession.assignment_id == StudyAssignment.id)
        .where(StudyAssignment.study_id == study.id, StudyAssignment.excluded_at.is_(None))
        .order_by(StudyAssignment.id, PlaySession.series)
    )
    found, basic = [], load_suite("gohr-basic")
    for game in (rebuild_game(session, row) for row in rows):
        shown = Evidence.of(game)
        if shown is None:
            continue
        played = game.session.game
        tests, group = played.boards(), basic.group_of(shown.rule.name)
        plans: list[list[int]] = [[] for _ in tests]
        for made in game.session.attempts:
            plans[made.episode].append(N_BUCKETS * (made.cell - 1) + made.bucket)
        conclusion = Conclusion(tuple(map(tuple, plans)))
        trial = RuleTrial(shown.rule, shown.trial, shown.seed, played.board, group)
        about = shown.log, grade(conclusion, trial, tests, shown.log), tests
        found.append(outcome_of("people", shown.source, trial, *about, n_boards=shown.n_boards))
    return Induction(tuple(found))
