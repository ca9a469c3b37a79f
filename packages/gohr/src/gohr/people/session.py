"""A person at the game: boards, attempts, and the view without the rule.

A session is a trial with a person as its policy: :class:`gohr.playing.TrialInPlay` deals the boards
and makes each attempt as it does for learners, and :meth:`PlaySession.log` is the record that a
learner's trial leaves. Besides, an :class:`Attempt` keeps the times. Only :class:`PlayView` may
leave the server.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gnomon.errors import GnomonError
from gohr.board import N_BUCKETS, N_CELLS, Board, BoardSpec
from gohr.outcomes import ACCEPTED, END_WORDS, IN_PROGRESS, OUTCOME_WORDS
from gohr.people.mastery import TARGET_STREAK, attempts_to_master
from gohr.people.series import Game
from gohr.playing import TrialInPlay, TrialLog
from gohr.rules.parser import parse

#: How a board ended; empty while it is in progress.
BoardEnd = Literal["", "cleared", "stalemate", "cut off", "given up", "mastered"]
#: Ends of a board that earn its points.
_PAID = ("cleared", "stalemate", "mastered")


class PlayError(GnomonError):
    """Something that cannot be done at this point of a game, such as a move on a cleared board.

    Examples
    --------
    >>> PlaySession(Game("any", "(*,*,*,*,*)", seed=1)).attempt(37, 0)
    Traceback (most recent call last):
    gohr.people.session.PlayError: cell: expected 1 to 36, found 37
    """


@dataclass(frozen=True, slots=True)
class ClientTimes:
    """Times measured by the player's own clock, in milliseconds.

    Parameters
    ----------
    touch_ms, action_ms : int
        From the moment the board, or the reply before, was on the screen to the first touch of a
        piece, and to the attempt; 0 for actions before the reply was there.
    away_ms : int
        Part of that time in which the page was not in front.
    animation_ms : int
        Part of that time in which a piece was being animated.
    """

    touch_ms: int
    action_ms: int
    away_ms: int = 0
    animation_ms: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of a person: a row of the log with its times.

    Parameters
    ----------
    episode : int
        From 0.
    number : int
        From 1 within its episode.
    cell : int
        1 to 36.
    bucket : int
        0 to 3.
    outcome : int
        The game's code: 0 accepted, 3 empty cell, 4 denied, 7 immovable.
    finish : int
        The board after it: 0 going on, 1 cleared, 2 stalemate.
    reaction_s : float
        Seconds since the player saw the board or the reply before.
    at : float
        When, in seconds since 1970, UTC.
    client : ClientTimes, optional
        The player's own clock; a page without a script has none.
    """

    episode: int
    number: int
    cell: int
    bucket: int
    outcome: int
    finish: int
    reaction_s: float
    at: float
    client: ClientTimes | None = None

    @property
    def accepted(self) -> bool:
        """Whether the piece left the board."""
        return self.outcome == ACCEPTED


# Its docstring is the description in the schema of the interface: an example is at PlaySession.
@dataclass(frozen=True, slots=True)
class PlayView:
    """All that a player may see: the board, the attempts so far, and the state of the game.

    It contains neither the rule nor anything that only the rule could reveal: no permitted move, no
    counter, no seed.

    Parameters
    ----------
    rule : str
        The name or alias.
    state : {"playing", "board over", "ended"}
    end : str
        How this board ended: ``cleared``, ``stalemate``, ``cut off``, ``given up`` or
        ``mastered``; empty while it is in progress.
    episode, episodes : int
        Which board, from 1, and of how many.
    pieces : tuple of mappings
        ``cell, shape, color`` of the pieces that are left; with fixed feedback also ``movable``.
    attempts : tuple of mappings
        ``number, cell, shape, color, bucket, outcome`` on this board, the first one first.
    errors, moves : int
        Errors and accepted attempts so far.
    streak : int
        Accepted attempts in a row, up to now.
    mastered : bool
        Whether there were ten in a row at any time; false where a streak ends the series, which
        ``end`` then indicates.
    points : mapping or None
        If the plan has points: ``total`` of the series so far; ``board_least`` and ``board_most``,
        which this board can still earn.
    """

    rule: str
    state: Literal["playing", "board over", "ended"]
    end: str
    episode: int
    episodes: int
    pieces: tuple[dict[str, Any], ...]
    attempts: tuple[dict[str, Any], ...]
    errors: int
    moves: int
    streak: int
    mastered: bool
    points: dict[str, int] | None = None


class PlaySession:
    """A game in progress; rebuilt from its attempts wherever and whenever it is needed.

    Parameters
    ----------
    game : Game
        The game to play.
    attempts : iterable of Attempt
        Previous attempts, in order, which are made again; empty for a new game.
    n_boards : int
        Number of boards shown to the player; at least 1.
    gave_up : bool
        Whether the player has ended the game before its last board.
    seen_at : float, optional
        When the player saw the board as it is, in seconds since 1970; now, if not given.

    Raises
    ------
    RuleError
        The rule cannot be played, see :class:`gohr.reference.ReferenceGame`.

    Examples
    --------
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1, episodes=2))
    >>> for piece in session.view().pieces:
    ...     made = session.attempt(piece["cell"], 0)
    >>> made.number, made.accepted
    (9, True)
    >>> view = session.view()
    >>> view.state, view.end, view.moves, view.errors
    ('board over', 'cleared', 9, 0)
    >>> session.next_board()
    >>> session.give_up()
    >>> session.view().state, session.log().n_attempts.tolist()
    ('ended', [9])
    """

    def __init__(
        self,
        game: Game,
        attempts: Iterable[Attempt] = (),
        *,
        n_boards: int = 1,
        gave_up: bool = False,
        seen_at: float | None = None,
    ) -> None:
        self.game = game
        self.attempts = list(attempts)
        self.gave_up = gave_up
        self.is_fixed = game.terms.feedback == "fixed"
        #: The board that the player sees, from 0; the trial itself deals the next one at once.
        self.episode = max(1, n_boards) - 1
        self._boards = game.boards()
        self._seen_at = time.time() if seen_at is None else seen_at
        self._trial = TrialInPlay(
            self._boards,
            parse(game.rule_text),
            horizon=game.horizon,
            board_spec=game.board,
            reveal=self.is_fixed,
            interpreted=True,  # a person waits for Numba longer than for the interpreter
        )
        for made in self.attempts:
            self._trial.attempt(_action(made.cell, made.bucket))

    # -- state of the game -----------------------------------------------------------------------

    @property
    def n_boards(self) -> int:
        """Number of boards shown to the player."""
        return self.episode + 1

    @property
    def n_played(self) -> int:
        """Number of boards that count: a last board without attempts does not."""
        untouched = not self.here() and self._is_open
        return self.n_boards - (untouched and self.n_boards > 1)

    @property
    def state(self) -> Literal["playing", "board over", "ended"]:
        """State of the game."""
        if self._is_open and not self.gave_up and not self.is_mastered:
            return "playing"
        more = self.n_boards < self.game.episodes and not self.gave_up and not self.is_mastered
        return "board over" if more else "ended"

    @property
    def next_attempt(self) -> tuple[int, int]:
        """Board and number of the attempt that comes next, both from 1."""
        return self.n_boards, len(self.here()) + 1

    @property
    def successes(self) -> list[bool]:
        """Whether each attempt was a success."""
        return [attempt.accepted for attempt in self.attempts]

    @property
    def mastered_after(self) -> int | None:
        """Attempts before the first streak of successes, of the plan's length or ten; or None.

        A streak may span several boards.
        """
        target = self.game.terms.mastery or TARGET_STREAK
        found = attempts_to_master(self.successes, target=target)
        return int(found) if math.isfinite(found) else None

    @property
    def is_mastered(self) -> bool:
        """Whether mastery has ended the series."""
        return self.game.terms.mastery is not None and self.mastered_after is not None

    @property
    def end(self) -> BoardEnd:
        """How the board ended; empty while it is in progress."""
        if self.is_mastered:
            return "mastered"
        if self._is_open:
            return "given up" if self.gave_up else ""
        return END_WORDS[self._trial.finish[self.episode]]

    @property
    def _is_open(self) -> bool:
        """Whether rule and horizon let the board that the player sees go on."""
        return len(self._trial.finish) == self.episode

    def board(self, episode: int) -> Board:
        """Return the board of an episode as it was dealt."""
        return Board.from_codes(self._boards[episode], self.game.board)

    def here(self) -> Sequence[Attempt]:
        """Return the attempts on the board that the player sees, which are the last ones."""
        first = len(self.attempts)
        while first and self.attempts[first - 1].episode == self.episode:
            first -= 1
        return self.attempts[first:]

    def movable_cells(self) -> set[int]:
        """Return the cells of the pieces that can be moved now, if the player may know."""
        permitted = self._trial.observation.permitted
        if permitted is None or not self._is_open:
            return set()
        return set((1 + np.flatnonzero(permitted) // N_BUCKETS).tolist())

    # -- what came of it -------------------------------------------------------------------------

    def errors_by_board(self) -> list[int]:
        """Return the number of errors on each board that was shown."""
        errors = [0] * self.n_boards
        for attempt in self.attempts:
            errors[attempt.episode] += not attempt.accepted
        return errors

    def points_by_board(self) -> list[int]:
        """Return the points of each board that was shown; 0 for one that is not over.

        A stalemate earns what a cleared board does; a board cut off or given up earns none.
        """
        plan = self.game.terms.points
        if plan is None:
            return [0] * self.n_boards
        ends = [*(END_WORDS[code] for code in self._trial.finish[: self.episode]), self.end]
        pairs = zip(ends, self.errors_by_board(), strict=True)
        return [plan.points(errors) if end in _PAID else 0 for end, errors in pairs]

    def log(self, spec: BoardSpec | None = None) -> TrialLog:
        """Return the game as the log of a trial, one episode for each board that counts.

        Parameters
        ----------
        spec : BoardSpec, optional
            Gives the palettes that the codes of the boards refer to; by default those of the game.

        Raises
        ------
        ValueError
            A piece is not in the palettes.
        """
        n, log = self.n_played, self._trial.log(in_play=True)
        boards = log.boards[:n]
        if spec not in (None, self.game.board):
            boards = np.array([self.board(e).codes(spec) for e in range(n)], dtype=np.uint8)
        log = replace(log, boards=boards, only_movable=self.is_fixed)
        return replace(log, n_attempts=log.n_attempts[:n], finish=log.finish[:n])

    # -- play ------------------------------------------------------------------------------------

    def attempt(
        self,
        cell: int,
        bucket: int,
        *,
        now: float | None = None,
        client: ClientTimes | None = None,
    ) -> Attempt:
        """Try to move the piece in a cell into a bucket.

        Parameters
        ----------
        cell : int
            1 to 36.
        bucket : int
            0 to 3.
        now : float, optional
            Seconds since 1970.
        client : ClientTimes, optional
            Times measured by the player's own clock.

        Raises
        ------
        PlayError
            The board is over, or the attempt is not possible here.
        """
        if self.state != "playing":
            raise PlayError(f"expected a board in play, found one that is {self.end}")
        if not 1 <= cell <= N_CELLS:
            raise PlayError(f"cell: expected 1 to {N_CELLS}, found {cell}")
        if not 0 <= bucket < N_BUCKETS:
            raise PlayError(f"bucket: expected 0 to {N_BUCKETS - 1}, found {bucket}")
        if self.is_fixed and cell not in self.movable_cells():
            raise PlayError("expected a piece that can be moved now; this one is crossed out")
        number = len(self.here()) + 1
        outcome = self._trial.attempt(_action(cell, bucket)).outcome
        finish = IN_PROGRESS if self._is_open else self._trial.finish[self.episode]
        at = time.time() if now is None else now
        reaction_s = max(0.0, at - self._seen_at)
        made = Attempt(self.episode, number, cell, bucket, outcome, finish, reaction_s, at, client)
        self.attempts.append(made)
        self._seen_at = at
        return made

    def next_board(self, *, now: float | None = None) -> None:
        """Show the next board.

        Raises
        ------
        PlayError
            This board is not over, or it was the last.
        """
        if self.state != "board over":
            raise PlayError(f"expected a board that is over, and one to come; this is {self.state}")
        self._seen_at = time.time() if now is None else now
        self.episode += 1

    def give_up(self) -> None:
        """End the game here.

        Raises
        ------
        PlayError
            The game has ended.
        """
        if self.state == "ended":
            raise PlayError("expected a game in progress; this one has ended")
        self.gave_up = True

    def view(self) -> PlayView:
        """Return all that the player may see now."""
        good, errors, terms, points = self.successes, self.errors_by_board(), self.game.terms, None
        pieces = {
            piece.pos: {"cell": piece.pos, "shape": piece.shape, "color": piece.color}
            for piece in self.board(self.episode).pieces
        }
        gone = {made.cell for made in self.here() if made.accepted}
        movable = self.movable_cells()
        if terms.points is not None:
            points = {
                "total": sum(self.points_by_board()),
                "board_least": terms.points.points(math.inf),
                "board_most": terms.points.points(errors[self.episode]),
            }
        return PlayView(
            rule=self.game.rule_name,
            state=self.state,
            end=self.end,
            episode=self.n_boards,
            episodes=self.game.episodes,
            pieces=tuple(
                piece | ({"movable": cell in movable} if self.is_fixed else {})
                for cell, piece in pieces.items()
                if cell not in gone
            ),
            attempts=tuple(
                {"number": made.number}
                | pieces.get(made.cell, {"cell": made.cell, "shape": None, "color": None})
                | {"bucket": made.bucket, "outcome": OUTCOME_WORDS[made.outcome]}
                for made in self.here()
            ),
            errors=sum(errors),
            moves=sum(good),
            streak=next((i for i, each in enumerate(reversed(good)) if not each), len(good)),
            mastered=terms.mastery is None and self.mastered_after is not None,
            points=points,
        )


def _action(cell: int, bucket: int) -> int:
    """Return an attempt as the log has it."""
    return N_BUCKETS * (cell - 1) + bucket
