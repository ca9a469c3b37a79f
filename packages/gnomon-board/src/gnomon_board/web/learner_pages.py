"""Pages of a learner, a rule, two learners that are compared, a submission and a replay."""

from __future__ import annotations

from statistics import median
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon_board.computation import computed
from gnomon_board.database import find_named, find_row
from gnomon_board.errors import Conflict, Missing, NotAllowed
from gnomon_board.evidence import sound_log
from gnomon_board.schema import Entry, EntryAttempt, Season, Submission, VerifiedTrial
from gnomon_board.seasons import find_rule
from gnomon_board.standing_cache import board_of, counted_trials
from gnomon_board.standings import LEVEL, PER_PAGE, Contender, compared
from gnomon_board.submissions import shows_hidden_rules
from gnomon_board.web.api.dependencies import (
    MOST,
    CurrentSettings,
    DatabaseOf,
    MaybeCaller,
    ReadSession,
    RowId,
    Slug,
)
from gnomon_board.web.api.records import EntryRecord, RuleRecord, SubmissionRecord
from gnomon_board.web.board_pages import PageNumber
from gnomon_board.web.figures import learner_figure, rule_figure
from gnomon_board.web.page_cache import CurrentBoard
from gnomon_board.web.replays import replay_of
from gnomon_board.web.templating import PageLinks, html_response, rendered
from gohr import BoardSpec
from gohr.experiments import read_log

router = APIRouter(tags=["pages"])


@router.get("/entries/{entry_id}", include_in_schema=False)
def learner(
    request: Request, session: ReadSession, board: CurrentBoard, entry_id: RowId
) -> Response:
    """Show an entry: its rank, its assignments, its errors on each rule, its profile."""
    entry = find_row(session, Entry, entry_id)
    season = entry.season

    def make() -> str:
        found = board.standings.get(season)
        lines = (*found.ranked, *found.unranked)
        standing = next((x for x in lines if x.contender.entry_id == entry.id), None)
        contenders = [each.contender for each in found.ranked]
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
    query = counted_trials(VerifiedTrial).where(EntryAttempt.entry_id == entry.id)
    found: dict[str, list[VerifiedTrial]] = {rule.name: [] for rule in entry.season.rules}
    for trial in session.scalars(query.order_by(EntryAttempt.number, VerifiedTrial.number)):
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
        ranked = [line.contender for line in board.standings.get(found).ranked]
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
    query = counted_trials(EntryAttempt.entry_id, VerifiedTrial.tce)
    order = EntryAttempt.entry_id, EntryAttempt.number, VerifiedTrial.number
    found: dict[int, list[float]] = {}
    of_rule = query.where(VerifiedTrial.rule_id == rule_id).order_by(*order)
    for entry, errors in session.execute(of_rule):
        found.setdefault(entry, []).append(errors)
    return found


# -- two learners ----------------------------------------------------------------------------------

EntryNumber = Annotated[int, Query(ge=1, le=MOST, description="The number of an entry.")]


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
            select(Entry.id, Entry.name).where(Entry.season_id == season.id).order_by(Entry.name)
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


# -- submissions -----------------------------------------------------------------------------------


@router.get("/submissions/{number}", include_in_schema=False)
def submission(request: Request, session: ReadSession, number: RowId, who: MaybeCaller) -> Response:
    """Show a submission: its state with the reason, its scores, and what the reader may do."""
    found = find_row(session, Submission, number)
    trials = session.scalars(
        select(VerifiedTrial)
        .where(VerifiedTrial.submission_id == found.id)
        .options(joinedload(VerifiedTrial.rule))
        .order_by(VerifiedTrial.rule_id, VerifiedTrial.number)
    )
    owner = found.attempt.entry.account_id
    return html_response(
        request,
        "board/submission.html",
        public=True,
        submission=SubmissionRecord.with_place(found, session),
        season_title=found.season.title,
        division=found.season.division,
        trials=trials.all(),
        can_replay=found.state == "verified" and not shows_hidden_rules(found),
        moderates=who is not None and who.may("moderate"),
        may_withdraw=who is not None and who.may("submit") and who.account_id == owner,
    )


@router.get("/submissions/{number}/replay", include_in_schema=False)
def replay(
    request: Request,
    session: ReadSession,
    database: DatabaseOf,
    settings: CurrentSettings,
    number: RowId,
    rule: Annotated[str, Query(max_length=128)] = "",
    trial: Annotated[int, Query(ge=0, le=MOST)] = 0,
    episode: Annotated[int, Query(ge=0, le=MOST)] = 0,
    step: Annotated[int, Query(ge=0, le=MOST)] = 0,
) -> Response:
    """Show every attempt of an episode; without a rule, of the first one."""
    found = find_row(session, Submission, number)
    if found.state != "verified":
        raise Conflict(f"submission {found.id} is {found.state}: it has no replay")
    if shows_hidden_rules(found):
        raise NotAllowed("replays are shown once the hidden rules are revealed")
    # An attempt of a hidden season is dealt some of its rules.
    of_submission = select(VerifiedTrial.rule_id).where(VerifiedTrial.submission_id == found.id)
    played = set(session.scalars(of_submission))
    rules = [each.name for each in found.season.rules if each.id in played]
    rule = rule or rules[0]
    data = sound_log(database, settings, found).read_bytes()
    log = read_log(data, only=(rule, trial)).get((rule, trial))
    if log is None:
        raise Missing(f"submission {found.id} has no trial {trial} of rule {rule[:64]!r}")
    learner = found.attempt.entry.name
    shown = replay_of(log, BoardSpec(**found.season.board), learner, rule, episode, step)
    values = {"rule": rule, "trial": trial, "episode": episode, "step": shown.step}
    defaults = {"trial": 0, "episode": 0, "step": 0}
    return html_response(
        request,
        "board/replay.html",
        public=True,
        submission=found,
        entry=found.attempt.entry,
        season=found.season,
        rules=rules,
        trial=trial,
        replay=shown,
        links=PageLinks(f"/submissions/{number}/replay", values, defaults),
    )
