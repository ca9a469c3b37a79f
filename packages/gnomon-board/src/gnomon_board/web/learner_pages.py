"""Pages of a learner, of a rule, and of two learners that are compared."""

from __future__ import annotations

from statistics import median
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session

from gnomon_board.computation import computed
from gnomon_board.database import find_named, find_row
from gnomon_board.errors import Missing
from gnomon_board.schema import Entry, EntryAttempt, Season, Submission, VerifiedTrial
from gnomon_board.seasons import find_rule
from gnomon_board.standing_cache import COUNTED, board_of
from gnomon_board.standings import LEVEL, PER_PAGE, Contender, compared
from gnomon_board.web.api.dependencies import ReadSession, RowId, Slug
from gnomon_board.web.api.records import EntryRecord, RuleRecord, SubmissionRecord
from gnomon_board.web.board_pages import PageNumber
from gnomon_board.web.figures import learner_figure, rule_figure
from gnomon_board.web.page_cache import CurrentBoard
from gnomon_board.web.templating import PageLinks, rendered

router = APIRouter(tags=["pages"])


@router.get("/entries/{entry_id}", include_in_schema=False)
def learner(
    request: Request, session: ReadSession, board: CurrentBoard, entry_id: RowId
) -> Response:
    """Show an entry: its rank, its attempts, its errors on each rule, its profile."""
    entry = find_row(session, Entry, entry_id)
    season = entry.season

    def make() -> str:
        snapshot = board.snapshot(season)
        ranked = snapshot.standings.ranked if snapshot else ()
        unranked = snapshot.standings.unranked if snapshot else ()
        standing = next((x for x in (*ranked, *unranked) if x.contender.entry_id == entry.id), None)
        contenders = [each.contender for each in ranked]
        others = [each for each in contenders if each.entry_id != entry.id]
        own = [each for each in contenders if each.entry_id == entry.id]
        submissions = session.scalars(
            select(Submission)
            .join(EntryAttempt)
            .where(EntryAttempt.entry_id == entry.id)
            .order_by(EntryAttempt.number)
        )
        trials = _trials_by_rule(session, entry)
        medians, figure = computed(
            learner_figure,
            {rule: [trial.tce for trial in own] for rule, own in trials.items()},
            {
                rule: whole
                for rule, own in trials.items()
                if (whole := [t.curve for t in own if len(t.curve) == season.episodes])
            },
        )
        hidden = {rule.name for rule in season.rules if rule.visibility == "hidden"}
        return rendered(
            "board/learner.html",
            f"/entries/{entry_id}",
            entry=EntryRecord.of(entry),
            season_title=season.title,
            division=season.division,
            standing=standing,
            submissions={each.attempt.number: SubmissionRecord.of(each) for each in submissions},
            rules=list(zip(trials.items(), medians, strict=True)),
            hidden=hidden,
            page=1 + contenders.index(own[0]) // PER_PAGE if own else 0,
            rival=others[0].entry_id if others else 0,
            figure=figure,
        )

    return board.answer(request, season, make)


def _trials_by_rule(session: Session, entry: Entry) -> dict[str, list[VerifiedTrial]]:
    """Return the counted trials of an entry on each rule that it played, in the season's order."""
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
    return {rule: own for rule, own in found.items() if own}


# -- rules -----------------------------------------------------------------------------------------

RuleName = Annotated[str, Path(min_length=1, max_length=128)]


@router.get("/seasons/{season}/rules/{name}", include_in_schema=False)
def rule(
    request: Request,
    session: ReadSession,
    board: CurrentBoard,
    season: Slug,
    name: RuleName,
    page: PageNumber = 1,
) -> Response:
    """Show a rule, and the errors of fifty learners at a time."""
    found = find_named(session, Season, season)
    asked = find_rule(found, name)
    path = f"/seasons/{season}/rules/{quote(name)}"

    def make() -> str:
        snapshot = board.snapshot(found)
        ranked = [line.contender for line in snapshot.standings.ranked] if snapshot else []
        errors = _errors_by_entry(session, asked.id)
        learners = [(each, errors[each.entry_id]) for each in ranked if each.entry_id in errors]
        learners.sort(key=lambda one: (median(one[1]), one[0].name.casefold()))
        n_pages = max(1, -(-len(learners) // PER_PAGE))
        number = min(page, n_pages)
        # Intervals only for the learners of this page: for thousands they take seconds.
        shown = learners[(number - 1) * PER_PAGE : number * PER_PAGE]
        medians, figure = computed(rule_figure, {each.name: own for each, own in shown})
        return rendered(
            "board/rule.html",
            path,
            season=found.name,
            season_title=found.title,
            rule=RuleRecord.of(asked, found),
            learners=list(zip(shown, medians, strict=True)),
            first=(number - 1) * PER_PAGE + 1,
            n_learners=len(learners),
            page=number,
            n_pages=n_pages,
            links=PageLinks(path, {"page": number}, {"page": 1}),
            figure=figure,
        )

    return board.answer(request, found, make)


def _errors_by_entry(session: Session, rule_id: int) -> dict[int, list[float]]:
    """Return the errors of each counted trial of a rule, by entry."""
    query = (
        select(EntryAttempt.entry_id, VerifiedTrial.tce)
        .join(Submission, VerifiedTrial.submission_id == Submission.id)
        .join(EntryAttempt, Submission.attempt_id == EntryAttempt.id)
        .where(VerifiedTrial.rule_id == rule_id, Submission.state.in_(COUNTED))
        .order_by(EntryAttempt.entry_id, EntryAttempt.number, VerifiedTrial.number)
    )
    found: dict[int, list[float]] = {}
    for entry, errors in session.execute(query):
        found.setdefault(entry, []).append(errors)
    return found


# -- two learners ----------------------------------------------------------------------------------

EntryNumber = Annotated[int, Query(ge=1, le=2**31 - 1, description="The number of an entry.")]


@router.get("/compare", include_in_schema=False)
def compare(
    request: Request, session: ReadSession, board: CurrentBoard, a: EntryNumber, b: EntryNumber
) -> Response:
    """Show which of two learners is better, by how much, and on which rules."""
    entries = find_row(session, Entry, a), find_row(session, Entry, b)
    season = entries[0].season
    if a == b or entries[1].season_id != season.id:
        raise Missing("expected two learners of one season")

    def make() -> str:
        two = [Contender(each.id, each.name, each.account.name) for each in entries]
        scores = board_of(session, season, two)
        if {row.entry for row in scores.scores} < {each.entry_id for each in two}:
            raise Missing("expected two learners with verified trials")
        overall, rules, notes = computed(compared, scores)
        others = session.execute(
            select(Entry.id, Entry.name)
            .where(Entry.season_id == season.id, Entry.withdrawn_at.is_(None))
            .order_by(Entry.name)
        ).all()
        return rendered(
            "board/compare.html",
            "/compare",
            season=season.name,
            season_title=season.title,
            a=two[0],
            b=two[1],
            overall=overall,
            rules=rules,
            notes=notes,
            alpha=1 - LEVEL,
            others=others,
        )

    return board.answer(request, season, make)
