"""A session of human play: boards, attempts, and the view without the rule.

A session is a trial of an experiment with a person in the learner's seat. The boards come from the
same generator as a trial's, an attempt gets the reply that a learner gets, and
:meth:`PlaySession.log` is the record that a learner's trial leaves. Only :class:`PlayView` may
leave the server.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gohr.game.board import N_BUCKETS, Board
from gohr.game.outcomes import IN_PROGRESS
from gohr.game.reference import ReferenceGame
from gohr.people.board_dealing import boards_of
from gohr.people.mastery import attempts_to_master
from gohr.people.play_records import (
    END_WORDS,
    Action,
    Attempt,
    ClientTimes,
    Game,
    PlayError,
    PlayView,
    PointsView,
    State,
    check_place,
    shown_piece,
    streak_at_end,
    told_attempt,
)
from gohr.people.rewards import BoardEnd, earned, points_of
from gohr.rules.parser import parse

if TYPE_CHECKING:
    from gohr.playing import TrialLog


class PlaySession:
    """A game in progress; rebuilt from its attempts wherever and whenever it is needed.

    Parameters
    ----------
    game : Game
        The game to play.
    attempts : iterable of Attempt
        Previous actions, in order; empty for a new game.
    n_boards : int
        Number of boards dealt to the player; at least 1.
    gave_up : bool
        Whether the player has ended the game before its last board.
    seen_at : float, optional
        When the player saw the board as it is, in seconds since 1970; now, if not given.

    Raises
    ------
    RulePlayError
        The rule cannot be played, see :class:`gohr.game.reference.ReferenceGame`.

    Examples
    --------
    >>> from gohr.people import Game
    >>> session = PlaySession(Game("any", "(*,*,*,*,*)", seed=1, episodes=2))
    >>> for piece in session.view().pieces:
    ...     _ = session.attempt(piece["cell"], 0)
    >>> view = session.view()
    >>> view.state, view.end, view.moves, view.errors
    ('board over', 'cleared', 9, 0)
    >>> session.next_board()
    >>> session.give_up()
    >>> session.view().state, session.log().n_attempts.tolist()
    ('ended', [9, 0])
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
        self._boards = boards_of(game)
        self._seen_at = time.time() if seen_at is None else seen_at
        self._deal(max(1, n_boards) - 1)
        # Only the board in play is played again: no board remembers another.
        for attempt in self.here():
            self._make(attempt.cell, attempt.bucket)

    # -- state of the game -----------------------------------------------------------------------

    @property
    def n_boards(self) -> int:
        """Number of boards dealt to the player."""
        return self.episode + 1

    @property
    def n_played(self) -> int:
        """Number of boards that count: a last board without attempts does not."""
        untouched = not self.here() and self.table.finish == IN_PROGRESS
        return self.n_boards - (untouched and self.n_boards > 1)

    @property
    def left_off(self) -> bool:
        """Whether the player stopped in the middle of the last board that counts."""
        return self.gave_up and bool(self.here()) and self._is_open()

    @property
    def state(self) -> State:
        """State of the game."""
        if self._goes_on():
            return "playing"
        return "board over" if not self.gave_up and self._can_go_on() else "ended"

    @property
    def next_attempt(self) -> tuple[int, int]:
        """Board and number of the attempt that comes next, both from 1."""
        return self.n_boards, len(self.here()) + 1

    @property
    def may(self) -> tuple[Action, ...]:
        """Possible actions of the player besides moving pieces."""
        state, latest = self.state, self.game.terms.give_up_at
        found: list[Action] = ["next"] if state == "board over" else []
        between = state == "board over" and latest is not None and self.n_boards <= latest
        if state != "ended" and (latest is None or between):
            found.append("give up")
        if state == "playing" and self.game.terms.pick_cost is not None:
            found.append("pick")
        return tuple(found)

    @property
    def is_mastered(self) -> bool:
        """Whether a streak of successes, which goes on across boards, has ended the series."""
        wanted = self.game.terms.mastery
        return wanted is not None and _longest_streak(self.attempts) >= wanted

    def board(self, episode: int) -> Board:
        """Return the board of an episode as it was dealt."""
        return Board.from_codes(self._boards[episode], self.game.board)

    def here(self) -> Sequence[Attempt]:
        """Return the attempts on the board in play, which are the last ones."""
        first = len(self.attempts)
        while first and self.attempts[first - 1].episode == self.episode:
            first -= 1
        return self.attempts[first:]

    def end(self) -> BoardEnd:
        """Return how the board ended, or would end without further attempts."""
        if self.is_mastered:
            return "mastered"
        if self.gave_up and self._is_open():
            return "given up"
        return END_WORDS[self.table.finish]

    def _goes_on(self) -> bool:
        """Return whether the board in play is neither over nor cut off."""
        return not self.gave_up and self._is_open() and not self.is_mastered

    def _is_open(self) -> bool:
        """Return whether rule and horizon let the board in play continue."""
        return self.table.finish == IN_PROGRESS and len(self.here()) < self.game.horizon

    def _can_go_on(self) -> bool:
        """Return whether another board follows the board that is over."""
        return not self.is_mastered and self.n_boards < self.game.episodes

    # -- what came of it -------------------------------------------------------------------------

    def errors_by_board(self) -> list[int]:
        """Return the number of errors on each board that was dealt."""
        errors = [0] * self.n_boards
        for attempt in self.attempts:
            errors[attempt.episode] += attempt.counts and not attempt.accepted
        return errors

    def costs_by_board(self) -> list[float]:
        """Return the cost of each board beyond its accepted moves; a pick has its own cost."""
        costs, pick_cost = [0.0] * self.n_boards, self.game.terms.pick_cost or 0.0
        for attempt in self.attempts:
            is_pick = attempt.bucket is None
            costs[attempt.episode] += pick_cost if is_pick else not attempt.accepted
        return costs

    def points_by_board(self) -> list[int]:
        """Return the points of each board that was dealt; 0 for one that is not over."""
        finish = self._finish_by_board()
        ends: list[BoardEnd] = [END_WORDS[code] for code in finish[:-1]]
        ends.append("" if self._goes_on() else self.end())
        plan, costs = self.game.terms.points, self.costs_by_board()
        return [earned(plan, end, cost) for end, cost in zip(ends, costs, strict=True)]

    def log(self) -> TrialLog:
        """Return the game as the log of a trial, one episode for each board dealt.

        A learner makes no picks: an accepted one, which is neither success nor error, is left out;
        a pick of a piece that cannot be moved is recorded as the attempt to put it into bucket 0,
        which has the same reply.
        """
        from gohr.playing import TrialLog

        made = [attempt for attempt in self.attempts if attempt.counts]
        episodes = np.array([a.episode for a in made], dtype=np.int64)
        return TrialLog(
            self._boards[: self.n_boards].copy(),
            np.bincount(episodes, minlength=self.n_boards).astype(np.int64),
            np.array([N_BUCKETS * (a.cell - 1) + (a.bucket or 0) for a in made], dtype=np.uint8),
            np.array([a.outcome for a in made], dtype=np.int8),
            np.array(self._finish_by_board(), dtype=np.int8),
        )

    def replayed(self) -> Iterator[Attempt]:
        """Play all boards again, and yield each attempt while the table is as it was before it.

        The session itself ends at the last board as dealt, so use a fresh one.
        """
        for episode in range(self.n_boards):
            self._deal(episode)
            for attempt in self.attempts:
                if attempt.episode == episode:
                    yield attempt
                    self._make(attempt.cell, attempt.bucket)

    def _finish_by_board(self) -> list[int]:
        """Return the code of the state of each board, one without attempts as it was dealt."""
        last = {attempt.episode: attempt.finish for attempt in self.attempts}
        return [
            last[episode] if episode in last else self._new_table(episode).finish
            for episode in range(self.n_boards)
        ]

    # -- play ------------------------------------------------------------------------------------

    def attempt(
        self,
        cell: int,
        bucket: int | None,
        *,
        now: float | None = None,
        client: ClientTimes | None = None,
    ) -> Attempt:
        """Try to move the piece in a cell into a bucket, or pick it.

        Parameters
        ----------
        cell : int
            1 to 36.
        bucket : int or None
            0 to 3; None for a pick.
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
            raise PlayError(f"expected a board in play, found one that is {self.end()}")
        check_place(cell, bucket, self.game.terms)
        if self.is_fixed and cell not in self.movable_cells():
            raise PlayError("expected a piece that can be moved now; this one is crossed out")
        number, outcome = len(self.here()) + 1, self._make(cell, bucket)
        at = time.time() if now is None else now
        reaction_s = max(0.0, at - self._seen_at)
        made = Attempt(
            *(self.episode, number, cell, bucket, outcome, self.table.finish, reaction_s, at),
            client,
        )
        self.attempts.append(made)
        self._seen_at = at
        return made

    def next_board(self, *, now: float | None = None) -> None:
        """Deal the next board.

        Raises
        ------
        PlayError
            This board is not over, or it was the last.
        """
        if "next" not in self.may:
            raise PlayError(f"expected a board that is over, and one to come; this is {self.state}")
        self._seen_at = time.time() if now is None else now
        self._deal(self.episode + 1)

    def give_up(self) -> None:
        """End the game here.

        Raises
        ------
        PlayError
            The game has ended, or the study offers no giving up at this point.
        """
        if self.state == "ended":
            raise PlayError("expected a game in progress; this one has ended")
        if "give up" not in self.may:
            raise PlayError("expected a moment at which giving up is offered; this is none")
        self.gave_up = True

    def view(self) -> PlayView:
        """Return all that the player may see now."""
        return _view_of(self)

    def movable_cells(self) -> set[int]:
        """Return the cells of the pieces that can be moved now."""
        cells = {piece.id: piece.pos for piece in self.table.pieces}
        return {cells[piece] for piece, _ in self.table.legal_moves()}

    def _deal(self, episode: int) -> None:
        self.episode = episode
        self.table = self._new_table(episode)
        self.cells = {piece.pos: piece for piece in self.table.pieces}

    def _new_table(self, episode: int) -> ReferenceGame:
        return ReferenceGame(parse(self.game.rule_text), self.board(episode))

    def _make(self, cell: int, bucket: int | None) -> int:
        if bucket is None:
            return self.table.pick_at(cell)
        return self.table.attempt_at(cell, bucket)


def _longest_streak(attempts: Iterable[Attempt]) -> int:
    """Return the most successes in a row; accepted picks neither add to a streak nor end it."""
    longest = streak = 0
    for attempt in attempts:
        if attempt.counts:
            streak = streak + 1 if attempt.accepted else 0
            longest = max(longest, streak)
    return longest


def _view_of(played: PlaySession) -> PlayView:
    """Return all that the player may see now."""
    here, state = played.here(), played.state
    good = [attempt.accepted for attempt in played.attempts if attempt.counts]
    moves = sum(good)
    movable = played.movable_cells() if played.is_fixed else None
    return PlayView(
        played.game.rule_name,
        state,
        "" if state == "playing" else played.end(),
        played.n_boards,
        played.game.episodes,
        played.game.horizon - len(here),
        tuple(
            shown_piece(p.pos, p) | ({} if movable is None else {"movable": p.pos in movable})
            for p in played.table.pieces
        ),
        tuple(
            shown_piece(m.piece.pos, m.piece) | {"bucket": m.bucket, "order": order}
            for order, m in enumerate(played.table.memory, 1)
        ),
        tuple(told_attempt(each, played.cells.get(each.cell)) for each in here),
        len(good) - moves,
        played.errors_by_board()[played.episode],
        moves,
        streak_at_end(good),
        _found(good) and played.game.terms.mastery is None,
        played.may,
        _points_view(played),
    )


def _found(good: list[bool]) -> bool:
    """Return whether there were ten successes in a row."""
    return bool(good) and math.isfinite(attempts_to_master(good))


def _points_view(played: PlaySession) -> PointsView | None:
    plan = played.game.terms.points
    if plan is None:
        return None
    cost = played.costs_by_board()[played.episode]
    total = sum(played.points_by_board())
    return PointsView(total, points_of(plan, math.inf), points_of(plan, cost))
