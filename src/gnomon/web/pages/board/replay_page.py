"""Page of a replay: an episode of a verified submission, attempt by attempt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from gnomon.game.board import Board, BoardSpec
from gnomon.game.outcomes import EMPTY_CELL
from gnomon.leaderboard.refusals import Conflict, Missing, NotAllowed
from gnomon.leaderboard.submissions.submission import find_submission, shows_hidden_rules
from gnomon.leaderboard.submissions.uploaded_logs import canonical_path
from gnomon.studies.play_records import END_WORDS, OUTCOME_WORDS
from gnomon.web.api.dependencies import CurrentSettings, ReadSession, RowId
from gnomon.web.pages.rendering.templating import html_response

if TYPE_CHECKING:
    import polars as pl

__all__ = ["router"]

router = APIRouter(tags=["pages"])

_MOST = 2**31 - 1
Number = Annotated[int, Query(ge=0, le=_MOST)]
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


def replay_page(
    session: ReadSession,
    settings: CurrentSettings,
    number: RowId,
    rule: RuleName,
    trial: Number = 0,
    episode: Number = 0,
    step: Number = 0,
) -> ReplayPage:
    """Return an episode of a submission."""
    submission = find_submission(session, number)
    sha256 = submission.log_sha256
    if submission.state != "verified" or submission.season.division == "open" or sha256 is None:
        raise Conflict(f"submission {number} is {submission.state}: there is nothing to watch")
    if shows_hidden_rules(submission):
        raise NotAllowed("replays are shown once the hidden rules are revealed")
    rows = _rows(canonical_path(settings, sha256), rule, trial)
    if rows.is_empty():
        raise Missing(f"submission {number} has no trial {trial} of rule {rule[:64]!r}")
    record = submission.season.board
    spec = BoardSpec(**{k: v for k, v in record.items() if k not in ("boards", "order")})
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


Replay = Annotated[ReplayPage, Depends(replay_page)]


@router.get("/submissions/{number}/replay.json")
def replay_json(page: Replay) -> ReplayPage:
    """Tell every attempt of an episode."""
    return page


@router.get("/submissions/{number}/replay", include_in_schema=False)
def replay_html(request: Request, page: Replay) -> Response:
    """Show an episode, one attempt at a time; it can be read without a script."""
    return html_response(request, "board/replay.html", page, query=request.url.query)
