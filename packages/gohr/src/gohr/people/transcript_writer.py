"""Transcripts of human play in the format of the reference system."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from gohr.game.board import BUCKET_PLACES
from gohr.game.captive_log import TRANSCRIPT
from gohr.game.outcomes import EMPTY_CELL
from gohr.people.play_records import Attempt
from gohr.people.play_session import PlaySession


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A game of one person, with its place in a study.

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
        The game that was played.

    Examples
    --------
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> PlayedGame("pilot-0001", "a", 0, "anything-goes", session).session.n_boards
    1
    """

    player: str
    rule_list: str
    series: int
    rule: str
    session: PlaySession


def transcript_text(games: Iterable[PlayedGame]) -> str:
    """Return the detailed transcript of games: a line an attempt, moments in UTC.

    The columns are those of the reference game server since version 8.031, so that people and
    learners share one table; :func:`gnomon.read_scores` reads it.

    Examples
    --------
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1))
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 2)
    >>> text = transcript_text([PlayedGame("pilot-0001", "a", 0, "anything-goes", session)])
    >>> text.splitlines()[1].split(",")[:5]
    ['pilot-0001', 'a', '0', 'anything-goes', '0']
    """
    out = io.StringIO()
    out.write(f"#{TRANSCRIPT}\n")
    writer = csv.writer(out, lineterminator="\n")
    for game in games:
        writer.writerows(_lines(game))
    return out.getvalue()


def _lines(game: PlayedGame) -> Iterator[Sequence[Any]]:
    for episode, attempts in groupby(game.session.attempts, key=lambda a: a.episode):
        pieces = {piece.pos: piece for piece in game.session.board(episode).pieces}
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
                *(number, _moment(attempt.at), 0, f"{attempt.reaction_s:.3f}"),
                *(f"{piece.color}_{piece.shape}", piece.id, piece.y, piece.x),
                *(*place, attempt.outcome, left),
            )


def episode_name(game: PlayedGame, first: Attempt) -> str:
    """Return a name for an episode, from its first attempt: when it began, and whose it is.

    Examples
    --------
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=0, episodes=1), seen_at=0.0)
    >>> _ = session.attempt(session.view().pieces[0]["cell"], 0, now=2.5)
    >>> game = PlayedGame("p1", "list", 0, "any", session)
    >>> episode_name(game, first_attempts(game)[0])
    '19700101-000000-p1-0-0'
    """
    moment = _moment(first.at - first.reaction_s).partition(".")[0]
    return f"{moment}-{game.player}-{game.series}-{first.episode}"


def boards_text(games: Iterable[PlayedGame]) -> str:
    """Return the boards of games before the first move, as the reference game server writes them.

    A line is a piece; a board on which nothing was tried has none.

    Examples
    --------
    >>> from gohr.people import Game
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
                look = piece.shape, piece.color, f"{piece.color}_{piece.shape}"
                writer.writerow((game.player, name, piece.id, piece.y, piece.x, *look))
    return out.getvalue()


def first_attempts(game: PlayedGame) -> dict[int, Attempt]:
    """Return the first attempt of each episode that a transcript has; its time names it.

    Examples
    --------
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=0, episodes=1))
    >>> first_attempts(PlayedGame("p1", "list", 0, "any", session))
    {}
    """
    found: dict[int, Attempt] = {}
    for attempt in game.session.attempts:
        if attempt.outcome != EMPTY_CELL:
            found.setdefault(attempt.episode, attempt)
    return found


def _moment(seconds: float) -> str:
    at = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return f"{at:%Y%m%d-%H%M%S}.{at.microsecond // 1000:03d}"
