"""Pages of submissions: lists, scores, replays of episodes, moderation and its log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from gnomon.database.schema import AuditRecord, Season, Submission, VerifiedTrial
from gnomon.game.board import Board, BoardSpec
from gnomon.game.outcomes import EMPTY_CELL
from gnomon.leaderboard.accounts.registration import Registration, registration, waiting_requests
from gnomon.leaderboard.accounts.tokens import Caller
from gnomon.leaderboard.hidden.begun_attempts import accounts_of_one_address
from gnomon.leaderboard.refusals import Conflict, Missing, NotAllowed
from gnomon.leaderboard.seasons.assignment import season_board_spec
from gnomon.leaderboard.seasons.entry_registration import find_season
from gnomon.leaderboard.submissions.submission import (
    find_submission,
    refuse_later,
    requeue,
    shows_hidden_rules,
    withdraw,
)
from gnomon.leaderboard.submissions.uploaded_logs import canonical_path
from gnomon.studies.play_records import END_WORDS, OUTCOME_WORDS
from gnomon.web.api.dependencies import (
    After,
    CurrentSettings,
    MaybeCaller,
    ReadSession,
    RowId,
    Slug,
    WriteSession,
    caller,
)
from gnomon.web.api.records import AuditLine, SubmissionRecord, TokenRequestRecord, TrialRecord
from gnomon.web.api.seasons import check_owner
from gnomon.web.pages.templating import html_response, twin

if TYPE_CHECKING:
    import polars as pl

router = APIRouter(tags=["pages"])

Reason = Annotated[str, Form(max_length=4000)]
_PAGE = 100


@dataclass(frozen=True)
class SubmissionsPage:
    """Submissions of a season in the order they came, a hundred at a time."""

    season: str
    season_title: str
    division: str
    submissions: list[SubmissionRecord]
    more_after: int | None


@dataclass(frozen=True)
class SubmissionPage:
    """A submission with its trials; ``can_replay`` is false while its rules are hidden."""

    submission: SubmissionRecord
    season_title: str
    division: str
    trials: list[TrialRecord]
    can_replay: bool


@twin(router, "/seasons/{name}/submissions", "board/submissions.html")
def submissions_json(session: ReadSession, name: Slug, after: After = 0) -> SubmissionsPage:
    """List the submissions of a season, whatever became of them."""
    season = find_season(session, name)
    query = select(Submission).where(Submission.season_id == season.id, Submission.id > after)
    found = session.scalars(query.order_by(Submission.id).limit(_PAGE + 1)).all()
    shown = found[:_PAGE]
    return SubmissionsPage(
        season.name,
        season.title,
        season.division,
        [SubmissionRecord.of(each, session) for each in shown],
        shown[-1].id if len(found) > _PAGE else None,
    )


@router.get("/submissions/{number}.json")
def submission_json(session: ReadSession, number: RowId) -> SubmissionPage:
    """Tell of a submission: its state with the reason, and the scores of its trials."""
    found = find_submission(session, number)
    query = (
        select(VerifiedTrial)
        .where(VerifiedTrial.submission_id == found.id)
        .options(joinedload(VerifiedTrial.rule))
        .order_by(VerifiedTrial.rule_id, VerifiedTrial.number)
    )
    replayed = found.season.division != "open" and found.state == "verified"
    return SubmissionPage(
        SubmissionRecord.of(found, session),
        found.season.title,
        found.season.division,
        [TrialRecord.of(trial) for trial in session.scalars(query)],
        replayed and not shows_hidden_rules(found),
    )


@router.get("/submissions/{number}", include_in_schema=False)
def submission_html(
    request: Request, session: ReadSession, number: RowId, who: MaybeCaller
) -> Response:
    """Show a submission, with what the reader may do about it."""
    page = submission_json(session, number)
    owner = find_submission(session, number).attempt.entry.account_id
    return html_response(
        request,
        "board/submission.html",
        page,
        moderates=who is not None and who.may("moderate"),
        owns=who is not None and (who.account_id == owner or who.may("moderate")),
    )


@router.post("/submissions/{number}/withdraw", include_in_schema=False)
def withdraw_form(
    session: WriteSession,
    number: RowId,
    who: Annotated[Caller, Depends(caller("submit"))],
    reason: Reason = "",
) -> Response:
    """Withdraw a submission; a tombstone stays."""
    found = find_submission(session, number, lock=True)
    check_owner(found.attempt.entry, who)
    withdraw(session, found, reason, by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)


Moderator = Annotated[Caller, Depends(caller("moderate"))]


@router.post("/submissions/{number}/refuse", include_in_schema=False)
def refuse_form(
    session: WriteSession, number: RowId, who: Moderator, reason: Reason = ""
) -> Response:
    """Refuse, as a moderator, with a reason that everybody sees."""
    refuse_later(session, find_submission(session, number, lock=True), reason, by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)


@router.post("/submissions/{number}/requeue", include_in_schema=False)
def requeue_form(session: WriteSession, number: RowId, who: Moderator) -> Response:
    """Have a submission verified again."""
    requeue(session, find_submission(session, number, lock=True), by=who.account_id)
    return RedirectResponse(f"/submissions/{number}", 303)


_MOST = 2**31 - 1
Counted = Annotated[int, Query(ge=0, le=_MOST)]
RuleName = Annotated[str, Query(min_length=1, max_length=128)]


@dataclass(frozen=True)
class Step:
    """An attempt: which piece, which bucket, and what came of it."""

    number: int
    cell: int
    shape: str | None
    color: str | None
    bucket: int
    outcome: str


@dataclass(frozen=True)
class ReplayPage:
    """An episode of a trial, and the board before the attempt that is looked at.

    ``episode`` counts from 0, ``step`` is the number of attempts made so far. ``pieces`` are those
    that are left, ``removed`` those that are gone.
    """

    submission: int
    season: str
    learner: str
    entry: int
    rule: str
    trial: int
    episode: int
    n_episodes: int
    step: int
    steps: list[Step]
    pieces: list[dict[str, Any]]
    removed: list[dict[str, Any]]
    end: str
    errors: list[int]


@twin(router, "/submissions/{number}/replay", "board/replay.html")
def replay_json(
    session: ReadSession,
    settings: CurrentSettings,
    number: RowId,
    rule: RuleName,
    trial: Counted = 0,
    episode: Counted = 0,
    step: Counted = 0,
) -> ReplayPage:
    """Tell every attempt of an episode."""
    submission = find_submission(session, number)
    sha256 = submission.log_sha256
    if submission.state != "verified" or submission.season.division == "open" or sha256 is None:
        raise Conflict(f"submission {number} is {submission.state}: there is nothing to watch")
    if shows_hidden_rules(submission):
        raise NotAllowed("replays are shown once the hidden rules are revealed")
    rows = _rows(canonical_path(settings, sha256), rule, trial)
    if rows.is_empty():
        raise Missing(f"submission {number} has no trial {trial} of rule {rule[:64]!r}")
    spec = season_board_spec(submission.season.board)
    errors = _errors(rows)
    if episode >= len(errors):
        raise Missing(f"expected an episode below {len(errors)}, found {episode}")
    here = rows.filter(rows["episode"] == episode)
    pieces = _pieces(here["board"][0], spec)
    steps = _steps(here, pieces)
    step = min(step, len(steps))
    gone = {s.cell: (s.bucket, n) for n, s in enumerate(steps[:step], 1) if s.outcome == "accepted"}
    entry = submission.attempt.entry
    return ReplayPage(
        submission=submission.id,
        season=submission.season.name,
        learner=entry.name,
        entry=entry.id,
        rule=rule,
        trial=trial,
        episode=episode,
        n_episodes=len(errors),
        step=step,
        steps=steps,
        pieces=[piece for piece in pieces if piece["cell"] not in gone],
        removed=[
            piece | {"bucket": gone[piece["cell"]][0], "order": gone[piece["cell"]][1]}
            for piece in pieces
            if piece["cell"] in gone
        ],
        end=END_WORDS[int(here["finish"][-1])],
        errors=errors,
    )


def _rows(path: Any, rule: str, trial: int) -> pl.DataFrame:
    """Return the rows of one trial, without reading the others."""
    import polars as pl

    if not path.exists():
        raise Missing("the log of this submission is not here any more")
    chosen = (pl.col("rule").cast(pl.String) == rule) & (pl.col("trial") == trial)
    return pl.scan_parquet(path).filter(chosen).collect()


def _errors(rows: pl.DataFrame) -> list[int]:
    """Return the number of errors in each episode."""
    import polars as pl

    wrong = ~pl.col("outcome").is_in([0, -4])
    counted = rows.group_by("episode", maintain_order=True).agg(wrong.sum().alias("n"))
    return [int(n) for n in counted.sort("episode")["n"]]


def _pieces(board: Any, spec: BoardSpec) -> list[dict[str, Any]]:
    """Return the pieces of a board, which is 36 bytes or as many pairs of hexadecimal digits."""
    codes = bytes.fromhex(board) if isinstance(board, str) else bytes(board)
    pieces = Board.from_codes(codes, spec).pieces
    return [{"cell": p.pos, "shape": p.shape, "color": p.color} for p in pieces]


def _steps(rows: pl.DataFrame, pieces: list[dict[str, Any]]) -> list[Step]:
    looks: Mapping[int, dict[str, Any]] = {piece["cell"]: piece for piece in pieces}
    steps = []
    played = rows.filter(rows["attempt"].is_not_null())
    for number, cell, bucket, outcome in played.select(
        "attempt", "cell", "bucket", "outcome"
    ).iter_rows():
        piece = looks.get(int(cell), {"shape": None, "color": None})
        told = OUTCOME_WORDS.get(int(outcome), "?")
        if outcome == EMPTY_CELL:
            piece = {"shape": None, "color": None}
        steps.append(
            Step(int(number), int(cell), piece["shape"], piece["color"], int(bucket), told)
        )
    return steps


_OPEN = ("uploading", "queued", "verifying", "error")
Before = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@dataclass(frozen=True)
class SharedAddress:
    """Accounts that began attempts of a season from one address; the address itself is not kept."""

    season: str
    accounts: tuple[str, ...]


@dataclass(frozen=True)
class ModerationPage:
    """The newest entries of the log, a hundred at a time, and the submissions that wait.

    ``everything`` says whether the reader sees what is not for everybody; ``one_address`` then has
    the accounts that began attempts of a season from one address, ``requests`` the requests for a
    token that wait, and ``registration`` is the switch.
    """

    lines: list[AuditLine]
    waiting: list[SubmissionRecord]
    everything: bool
    older_before: int | None
    one_address: list[SharedAddress]
    requests: list[TokenRequestRecord]
    registration: Registration


@twin(router, "/moderation", "board/moderation.html")
def moderation_json(
    session: ReadSession, who: MaybeCaller, before: Before = None
) -> ModerationPage:
    """Tell what was done, the newest first, and which submissions wait."""
    everything = who is not None and who.may("moderate")
    query = select(AuditRecord).options(joinedload(AuditRecord.account))
    if not everything:
        query = query.where(AuditRecord.public)
    if before is not None:
        query = query.where(AuditRecord.id < before)
    found = session.scalars(query.order_by(AuditRecord.id.desc()).limit(_PAGE + 1)).all()
    waiting = session.scalars(
        select(Submission).where(Submission.state.in_(_OPEN)).order_by(Submission.id).limit(_PAGE)
    )
    return ModerationPage(
        [AuditLine.of(record) for record in found[:_PAGE]],
        [SubmissionRecord.of(each, session) for each in waiting],
        everything,
        found[_PAGE - 1].id if len(found) > _PAGE else None,
        _of_one_address(session) if everything else [],
        [TokenRequestRecord.of(e) for e in waiting_requests(session)] if everything else [],
        registration(session),
    )


def _of_one_address(session: Session) -> list[SharedAddress]:
    seasons = session.scalars(select(Season).where(Season.division == "hidden"))
    return [
        SharedAddress(season.name, names)
        for season in seasons.all()
        for names in accounts_of_one_address(session, season.id)
    ]
