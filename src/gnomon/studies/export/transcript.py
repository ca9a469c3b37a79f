"""Transcripts of human play in the reference system's format, and their scores."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gnomon.errors import NotCompilableError
from gnomon.experiments.scoring.trial_scores import METRICS, score_trial
from gnomon.game.board import BUCKET_PLACES, N_BUCKETS, BoardSpec, Piece
from gnomon.game.captive_log import TRANSCRIPT
from gnomon.game.outcomes import EMPTY_CELL
from gnomon.studies.play.bot_assist import Hint
from gnomon.studies.play.play_records import Attempt
from gnomon.studies.play.play_session import PlaySession

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog
    from gnomon.learners.chance import AttemptCounts
    from gnomon.scores.table import ScoreTable


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game of one person, with what is known of its place in a study.

    Parameters
    ----------
    player : str
        A pseudonym.
    rule_list : str
        The list of the study, empty outside of one.
    series : int
        Which rule of the list, from 0.
    rule : str
        The rule's own name.
    session : PlaySession
        What was played.
    partner : str
        The pseudonym of who sat in seat 1; empty for nobody, or a bot.
    plan : str
        In which folder of trial lists the series is, where those of a list are in several.

    Examples
    --------
    >>> from gnomon.studies import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> PlayedGame("pilot-0001", "a", 0, "anything-goes", session).session.n_boards
    1
    """

    player: str
    rule_list: str
    series: int
    rule: str
    session: PlaySession
    partner: str = ""
    plan: str = ""

    @property
    def kind(self) -> str:
        """How people played: ``alone``, ``cooperative`` or ``adversarial``; ``-bot`` with a bot."""
        seats = self.session.game.seats
        if seats is None or (seats.bot is None and not self.partner):
            return "alone"
        return seats.play + ("" if self.partner else "-bot")

    @property
    def people(self) -> tuple[tuple[int | None, str], ...]:
        """The people at the board, each with the seat; None for one alone."""
        if self.session.game.seats is None:
            return ((None, self.player),)
        return ((0, self.player), (1, self.partner))[: 1 + bool(self.partner)]

    def made_by(self, number: int) -> str:
        """Return who made an attempt of the series, counted from 0: a pseudonym, or ``bot``."""
        seats, mover = self.session.game.seats, self.session.attempts[number].mover
        if seats is not None and seats.is_bots(number, mover):
            return "bot"
        return self.partner if mover else self.player


def transcript_text(games: Iterable[PlayedGame]) -> str:
    """Return the detailed transcript of games: a line an attempt, moments in UTC.

    The columns are those of the reference game server since version 8.031, so that people and
    learners stand in one table; :func:`gnomon.experiments.game_log_reader.read_game_log` reads it.

    Examples
    --------
    >>> from gnomon.studies import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 2)
    >>> text = transcript_text([PlayedGame("pilot-0001", "a", 0, "anything-goes", session)])
    >>> text.splitlines()[1].split(",")[:5]
    ['pilot-0001', 'a', '0', 'anything-goes', '0']
    """
    games = list(games)
    assisted = any(game.session.game.terms.bot_assist for game in games)
    out = io.StringIO()
    planned = any(game.plan for game in games)
    more = (",followed" if assisted else "") + (",experimentPlan" if planned else "")
    out.write(f"#{TRANSCRIPT}{more}\n")
    writer = csv.writer(out, lineterminator="\n")
    for game in games:
        last = [game.plan] if planned else []
        writer.writerows([*line, *last] for line in _lines(game, assisted=assisted))
    return out.getvalue()


def is_followed(attempt: Attempt, hint: Hint | None) -> bool:
    """Tell whether an attempt is the move that a hint suggested; a pick is not."""
    return hint is not None and (attempt.cell, attempt.bucket) == (hint.cell, hint.bucket)


def _lines(game: PlayedGame, *, assisted: bool) -> Iterator[Sequence[Any]]:
    hints = game.session.hints()
    for episode, attempts in groupby(game.session.attempts, key=lambda a: a.episode):
        pieces = {piece.place: piece for piece in game.session.board(episode).pieces}
        left, episode_id = len(pieces), ""
        # The reference system writes no line for an attempt on an empty cell.
        written = (a for a in attempts if a.outcome != EMPTY_CELL)
        for number, attempt in enumerate(written):
            piece = pieces[attempt.cell]
            left -= attempt.accepted and attempt.bucket is not None
            episode_id = episode_id or episode_name(game, attempt)
            bucket = attempt.bucket
            place = ("", "", "") if bucket is None else (bucket, *BUCKET_PLACES[bucket])
            yield (
                *(game.player, game.rule_list, game.series, game.rule, episode, episode_id),
                *(number, _moment(attempt.at), attempt.mover, f"{attempt.reaction_s:.3f}"),
                *(object_type(piece), piece.id, piece.y, piece.x),
                *(*place, attempt.outcome, left),
                *([_followed(attempt, hints)] if assisted else []),
            )


def object_type(piece: Piece) -> str:
    """Return what the reference system calls a piece: ``COLOR_SHAPE``, or its picture's path."""
    return piece.image or f"{piece.color}_{piece.shape}"


def _followed(attempt: Attempt, hints: Mapping[tuple[int, int], Hint | None]) -> int | str:
    if not hints:
        return ""
    return int(is_followed(attempt, hints[attempt.episode, attempt.number]))


def episode_name(game: PlayedGame, first: Attempt) -> str:
    """Return a name for an episode, from its first attempt: when it began, and whose it is."""
    moment = _moment(first.at - first.reaction_s).partition(".")[0]
    return f"{moment}-{game.player}-{game.series}-{first.episode}"


def boards_text(games: Iterable[PlayedGame]) -> str:
    """Return the boards of games before the first move, as the reference game server writes them.

    A line is a piece; a board on which nothing was tried has none. Shape and colour of pictures are
    ``null``.

    Examples
    --------
    >>> from gnomon.studies import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 2)
    >>> text = boards_text([PlayedGame("pilot-0001", "a", 0, "anything-goes", session)])
    >>> len(text.splitlines())
    10
    """
    out = io.StringIO()
    out.write("#playerId,episodeId,objectId,y,x,shape,color,objectType\n")
    writer = csv.writer(out, lineterminator="\n")
    for game in games:
        for first in first_attempts(game).values():
            name = episode_name(game, first)
            for piece in game.session.board(first.episode).pieces:
                look = (piece.shape or "null", piece.color or "null", object_type(piece))
                writer.writerow((game.player, name, piece.id, piece.y, piece.x, *look))
    return out.getvalue()


def first_attempts(game: PlayedGame) -> dict[int, Attempt]:
    """Return the first attempt of each episode that a transcript has; its time names it."""
    found: dict[int, Attempt] = {}
    for attempt in game.session.attempts:
        if attempt.outcome != EMPTY_CELL:
            found.setdefault(attempt.episode, attempt)
    return found


def _moment(seconds: float) -> str:
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{at:%Y%m%d-%H%M%S}.{at.microsecond // 1000:03d}"


def trial_log(
    session: PlaySession, spec: BoardSpec | None = None, seat: int | None = None
) -> TrialLog:
    """Return what was played as the log of a learner's trial, by which people are scored and kept.

    As :meth:`PlaySession.log`, but a last board that was not touched is left out.

    Parameters
    ----------
    session : PlaySession
    spec : BoardSpec, optional
        Whose palettes the codes of the boards refer to; the session's own, if not given.
    seat : int, optional
        Of two at a board, the person whose attempts are the ``own`` ones.

    Raises
    ------
    NotCompilableError
        A piece is not of the palettes, or several lie in one cell.

    Examples
    --------
    >>> from gnomon.studies import Game, SeriesTerms
    >>> rule = "(*,*,*,[1,2,3],0)"
    >>> session = PlaySession(Game("low", rule, seed=1, terms=SeriesTerms(pick_cost=1)))
    >>> high = max(piece["cell"] for piece in session.view().pieces)
    >>> _ = session.attempt(high, None)
    >>> trial_log(session).outcomes, trial_log(session).actions == 4 * (high - 1)
    (array([7], dtype=int8), array([ True]))
    """
    spec = session.game.board if spec is None else spec
    if session.game.board.crowded and not spec.crowded:
        raise NotCompilableError("pieces share cells, and on other boards they do not")
    whole, n_boards = session.log(seat), session.n_played
    boards = [session.board(e).codes(spec) for e in range(n_boards)]
    return replace(
        whole,
        boards=np.array(boards, dtype=np.uint8),
        n_attempts=whole.n_attempts[:n_boards],
        finish=whole.finish[:n_boards],
    )


def attempt_counts(session: PlaySession) -> AttemptCounts | None:
    """Return what could have been attempted where only pieces that can be moved may be tried.

    Of the attempts of :func:`trial_log`, and four for each such piece; None where any may be tried.
    """
    if not session.is_fixed:
        return None
    from gnomon.learners.chance import AttemptCounts

    again = PlaySession(session.game, session.attempts, n_boards=session.n_boards)
    counted = [
        (N_BUCKETS * len({piece for piece, _ in legal}), len(legal))
        for attempt in again.replayed(session.n_boards)
        for legal in [again.table.legal_moves()]
        if attempt.counts
    ]
    possible, permitted = np.array(counted, dtype=np.int64).reshape(-1, 2).T
    return AttemptCounts(possible, permitted, np.zeros_like(possible))


def play_scores(
    games: Iterable[PlayedGame],
    metric: str = "tce",
    *,
    by: Literal["player", "people"] = "player",
) -> ScoreTable:
    """Return a score of every game: players as algorithms, or all people as one; rules as tasks.

    Parameters
    ----------
    games : iterable of PlayedGame
        Games without a single attempt are left out. Of two at a board each has a score of own
        attempts, and a bot has none.
    metric : str
        One of :data:`gnomon.experiments.METRICS` that is one number a trial.
    by : {"player", "people"}
        Each player is an algorithm with one run, or each a run of the one algorithm ``people``.

    Returns
    -------
    ScoreTable
        With the attributes ``rule_list``, ``series`` and ``n_boards``: people play as many boards
        as they like, so that totals of different people need not compare.

    Raises
    ------
    ScoreDataError
        There is no game.

    Examples
    --------
    >>> from gnomon.studies import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 2)
    >>> table = play_scores([PlayedGame("pilot-0001", "a", 0, "anything-goes", session)])
    >>> table.runs("pilot-0001", "anything-goes").tolist()
    [0.0]
    """
    from gnomon.scores.table import ScoreTable

    chosen = METRICS[metric]
    runs: dict[tuple[str, str], int] = {}
    rows = []
    for game in games:
        if not game.session.attempts:
            continue
        for seat, player in game.people:
            who = "people" if by == "people" else player
            run = runs.get((who, game.rule), 0)
            runs[who, game.rule] = run + 1
            score = score_trial(trial_log(game.session, seat=seat), metric)
            row = {"algorithm": who, "task": game.rule, "run": run, "score": score}
            row |= {"censored": score == float("inf"), "rule_list": game.rule_list}
            rows.append(row | {"series": game.series, "n_boards": game.session.n_boards})
    return ScoreTable.from_records(
        rows,
        metric=metric,
        unit=chosen.unit,
        higher_is_better=chosen.higher_is_better,
        provenance=("people", "attempts on empty cells counted as errors"),
    )
