"""Page of a learner: rank, attempts, errors on each rule, profile."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon.errors import DegenerateScoresWarning, GnomonError
from gnomon.stats import median_curve
from gnomon_board.database.schema import Entry, EntryAttempt, Season, Submission, VerifiedTrial
from gnomon_board.leaderboard.entries import find_entry
from gnomon_board.leaderboard.hidden.begun_attempts import Unfinished, unfinished_attempts
from gnomon_board.leaderboard.standing_snapshots import COUNTED, board_of_some
from gnomon_board.leaderboard.standings import (
    LEVEL,
    PER_PAGE,
    Contender,
    Number,
    Standing,
    score_table,
)
from gnomon_board.web.api.dependencies import ReadSession, RowId
from gnomon_board.web.api.records import EntryRecord, SubmissionRecord
from gnomon_board.web.pages.figures import curve_figure, profile_figure
from gnomon_board.web.pages.interval_bars import intervals
from gnomon_board.web.pages.page_cache import BoardState, CurrentBoard
from gnomon_board.web.pages.templating import rendered
from gohr.run_page import MedianCurve

if TYPE_CHECKING:
    from gnomon.stats import Profiles

router = APIRouter(tags=["pages"])

#: Most curves in one drawing, and other learners in the profile.
_MOST_CURVES, _MOST_OTHERS = 6, 4


@dataclass(frozen=True)
class RuleLine:
    """How an entry fared on a rule.

    ``median`` is that of its trials' errors; ``learned`` how many trials found the rule;
    ``rank_low`` and ``rank_high`` where the rule stands among the others for this learner, the
    hardest first.
    """

    rule: str
    hidden: bool
    n_trials: int
    median: Number
    learned: int
    rank_low: int | None
    rank_high: int | None


@dataclass(frozen=True)
class LearnerPage:
    """An entry with everything that is known of it.

    ``page`` is the page of the standings on which it stands, 0 without a rank; ``rival`` the best
    other entry with a rank, 0 if there is none.
    """

    entry: EntryRecord
    season_title: str
    division: str
    standing: Standing | None
    submissions: list[SubmissionRecord]
    rules: list[RuleLine]
    curves: list[MedianCurve]
    profiles: Profiles | None
    unfinished: list[Unfinished]
    page: int
    rival: int
    level: float = LEVEL


def learner_page(session: Session, board: BoardState, entry: Entry) -> LearnerPage:
    """Return the content of the page of an entry."""
    season = entry.season
    snapshot = board.snapshot(season)
    lines = (*snapshot.standings.ranked, *snapshot.standings.unranked) if snapshot else ()
    standing = next((line for line in lines if line.contender.entry_id == entry.id), None)
    trials = _trials(session, entry)
    return LearnerPage(
        EntryRecord.of(entry),
        season.title,
        season.division,
        standing,
        [SubmissionRecord.of(each) for each in _submissions(session, entry)],
        _rules(session, season, entry, trials),
        _curves(season, trials),
        _profiles(session, season, entry, [line.contender for line in lines if line.rank_low]),
        _unfinished(session, entry),
        _page(entry, snapshot.standings.ranked if snapshot else ()),
        next(
            (
                line.contender.entry_id
                for line in lines
                if line.rank_low and line.contender.entry_id != entry.id
            ),
            0,
        ),
    )


def _page(entry: Entry, ranked: Sequence[Standing]) -> int:
    """Return the page of the standings with an entry; 0 if it has no rank."""
    at = next((i for i, line in enumerate(ranked) if line.contender.entry_id == entry.id), None)
    return 0 if at is None else 1 + at // PER_PAGE


def _unfinished(session: Session, entry: Entry) -> list[Unfinished]:
    """Return the unfinished attempts of an entry in their current state."""
    return unfinished_attempts(session, entry.season_id, entry.id)


def _submissions(session: Session, entry: Entry) -> list[Submission]:
    query = select(Submission).join(EntryAttempt).where(EntryAttempt.entry_id == entry.id)
    return list(session.scalars(query.order_by(EntryAttempt.number)))


def _trials(session: Session, entry: Entry) -> dict[str, list[VerifiedTrial]]:
    """Return the counted trials of an entry, by rule."""
    query = (
        select(VerifiedTrial)
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(EntryAttempt.entry_id == entry.id, Submission.state.in_(COUNTED))
        .order_by(EntryAttempt.number, VerifiedTrial.number)
    )
    found: dict[str, list[VerifiedTrial]] = {rule.name: [] for rule in entry.season.rules}
    for trial in session.scalars(query):
        found[trial.rule.name].append(trial)
    return found


def _rules(
    session: Session, season: Season, entry: Entry, trials: dict[str, list[VerifiedTrial]]
) -> list[RuleLine]:
    ranks = _ranks(session, season, entry)
    lines = []
    for rule in season.rules:
        of_rule = trials[rule.name]
        if not of_rule:
            continue
        errors = [trial.tce for trial in of_rule]
        number = Number.median(errors)
        learned = sum(trial.errors_to_learn is not None for trial in of_rule)
        low, high = ranks.get(rule.name, (None, None))
        hidden = rule.visibility == "hidden"
        lines.append(RuleLine(rule.name, hidden, len(of_rule), number, learned, low, high))
    return lines


def _ranks(session: Session, season: Season, entry: Entry) -> dict[str, tuple[int, int]]:
    """Return the rank interval of each rule for this learner, if it is estimable."""
    from gnomon.ranking import rank

    own = [Contender(entry.id, entry.name)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        try:
            table = score_table(board_of_some(session, season, own), own)
            ranking = rank(table, by="task", level=LEVEL)
        except GnomonError:
            return {}
    return {r["name"]: (r["rank_low"], r["rank_high"]) for r in ranking.as_records()}


def _curves(season: Season, trials: dict[str, list[VerifiedTrial]]) -> list[MedianCurve]:
    """Return the median curve of each rule with complete curves."""
    found = []
    for rule, of_rule in trials.items():
        curves = [trial.curve for trial in of_rule if len(trial.curve) == season.episodes]
        if curves:
            median, low, high = median_curve(curves, level=LEVEL)
            if np.isnan(low).any():
                low = high = median
            found.append(MedianCurve(rule, median, low, high, len(curves)))
    return found


def _profiles(
    session: Session, season: Season, entry: Entry, ranked: list[Contender]
) -> Profiles | None:
    """Return the profiles of this learner and the best other ones."""
    from gnomon.stats import Profiles, profile

    if entry.id not in [each.entry_id for each in ranked]:
        return None
    others = [each for each in ranked if each.entry_id != entry.id][:_MOST_OTHERS]
    own = [each for each in ranked if each.entry_id == entry.id]
    shown = [*own, *others]
    table = score_table(board_of_some(session, season, shown), shown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateScoresWarning)
        found = profile(table, spacing="data", band="none")
    return Profiles(tuple(sorted(found, key=lambda one: one.algorithm != entry.name)))


@router.get("/entries/{entry_id}", include_in_schema=False)
def learner_html(
    request: Request, session: ReadSession, board: CurrentBoard, entry_id: RowId
) -> Response:
    """Show an entry: its place, its attempts, its errors on each rule."""
    entry = find_entry(session, entry_id)

    def make() -> str:
        page = learner_page(session, board, entry)
        return rendered("board/learner.html", f"/entries/{entry_id}", page, **_drawn(page))

    key = ("entry", entry.id, *_unfinished(session, entry))
    return board.answer(request, entry.season, key, make)


def _drawn(page: LearnerPage) -> dict[str, Any]:
    """Lay out the drawings of the page."""
    hardest = sorted(page.curves, key=lambda curve: -curve.values[-1])[:_MOST_CURVES]
    return {
        "drawn": intervals([line.median for line in page.rules]),
        "curves": curve_figure(hardest, "Errors so far, episode by episode, on each rule"),
        "n_curves": len(hardest),
        "profile": profile_figure(
            page.profiles, "Share of trials with at most a number of errors, beside other learners"
        ),
    }
