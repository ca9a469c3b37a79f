"""A session of human play: boards, attempts, and the view without the rule.

A session is a trial of an experiment with a person in the learner's seat. The boards come from the
same generator as a trial's, an attempt gets the reply that a learner gets, and
:meth:`PlaySession.log` is the record that a learner's trial leaves. Only :class:`PlayView` may
leave the server.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gohr.game.board import N_BUCKETS, N_CELLS, Board, BoardSpec, Piece
from gohr.game.outcomes import IN_PROGRESS
from gohr.game.reference import ReferenceGame
from gohr.people.board_dealing import boards_of
from gohr.people.mastery import attempts_to_master
from gohr.people.play_records import (
    END_WORDS,
    OUTCOME_WORDS,
    Action,
    Attempt,
    BoardEnd,
    ClientTimes,
    Game,
    PlayError,
    PlayView,
    PointsView,
    State,
)
from gohr.playing import Replay, TrialLog, replay
from gohr.rules.parser import parse

#: Ends of a board that earn its points.
_PAID = ("cleared", "stalemate", "mastered")


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
        if wanted is None:
            return False
        good = [attempt.accepted for attempt in self.attempts if attempt.counts]
        return math.isfinite(attempts_to_master(good, target=wanted))

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
        """Return the points of each board that was dealt; 0 for one that is not over.

        A stalemate earns what a cleared board does, and no other end is paid.
        """
        plan = self.game.terms.points
        if plan is None:
            return [0] * self.n_boards
        ends: list[BoardEnd] = [END_WORDS[code] for code in self._finish_by_board()[:-1]]
        ends.append("" if self._goes_on() else self.end())
        pairs = zip(ends, self.costs_by_board(), strict=True)
        return [plan.points(cost) if end in _PAID else 0 for end, cost in pairs]

    def log(self, spec: BoardSpec | None = None) -> TrialLog:
        """Return the game as the log of a trial, one episode for each board that counts.

        A learner makes no picks: an accepted one, which is neither success nor error, is left out;
        a pick of a piece that cannot be moved is recorded as the attempt to put it into bucket 0,
        which has the same reply.

        Parameters
        ----------
        spec : BoardSpec, optional
            Whose palettes the codes of the boards refer to; the game's own, if not given.

        Raises
        ------
        NotCompilableError
            A piece is not of the palettes.
        """
        n, made = self.n_played, [attempt for attempt in self.attempts if attempt.counts]
        episodes = np.array([a.episode for a in made], dtype=np.int64)
        boards = self._boards[:n].copy()
        if spec not in (None, self.game.board):
            boards = np.array([self.board(e).codes(spec) for e in range(n)], dtype=np.uint8)
        return TrialLog(
            boards,
            np.bincount(episodes, minlength=n).astype(np.int64),
            np.array([N_BUCKETS * (a.cell - 1) + (a.bucket or 0) for a in made], dtype=np.uint8),
            np.array([a.outcome for a in made], dtype=np.int8),
            np.array(self._finish_by_board()[:n], dtype=np.int8),
        )

    def counts(self) -> Replay | None:
        """Return what could be attempted at each row of the log, if not any piece on the board.

        With fixed feedback only pieces that can be moved may be tried, and only these are counted.
        """
        if not self.is_fixed:
            return None
        log, rule = self.log(), parse(self.game.rule_text)
        rows = log.boards, log.n_attempts, log.actions
        found = replay(*rows, rule, board_spec=self.game.board)
        return replace(found, n_pieces=found.n_movable)

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
        if not 1 <= cell <= N_CELLS:
            raise PlayError(f"cell: expected 1 to {N_CELLS}, found {cell}")
        if bucket is None and self.game.terms.pick_cost is None:
            raise PlayError("expected a bucket: pieces cannot be picked here")
        if bucket is not None and not 0 <= bucket < N_BUCKETS:
            raise PlayError(f"bucket: expected 0 to {N_BUCKETS - 1}, found {bucket}")
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
        here, state, terms = self.here(), self.state, self.game.terms
        good = [attempt.accepted for attempt in self.attempts if attempt.counts]
        moves, errors = sum(good), self.errors_by_board()
        movable = self.movable_cells() if self.is_fixed else None
        points = None
        if terms.points is not None:
            least, most = terms.points.points(math.inf), self.costs_by_board()[self.episode]
            points = PointsView(sum(self.points_by_board()), least, terms.points.points(most))
        return PlayView(
            self.game.rule_name,
            state,
            "" if state == "playing" else self.end(),
            self.n_boards,
            self.game.episodes,
            self.game.horizon - len(here),
            tuple(
                _shown(p.pos, p) | ({} if movable is None else {"movable": p.pos in movable})
                for p in self.table.pieces
            ),
            tuple(
                _shown(m.piece.pos, m.piece) | {"bucket": m.bucket, "order": order}
                for order, m in enumerate(self.table.memory, 1)
            ),
            tuple(_told(each, self.cells.get(each.cell)) for each in here),
            sum(errors),
            errors[self.episode],
            moves,
            next((i for i, each in enumerate(reversed(good)) if not each), len(good)),
            bool(good) and terms.mastery is None and math.isfinite(attempts_to_master(good)),
            self.may,
            points,
        )

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


def _shown(cell: int, piece: Piece | None) -> dict[str, Any]:
    """Return a piece as its player sees it: ``cell, shape, color``."""
    if piece is None:
        return {"cell": cell, "shape": None, "color": None}
    return {"cell": cell, "shape": piece.shape, "color": piece.color}


def _told(attempt: Attempt, piece: Piece | None) -> dict[str, Any]:
    """Return the reply to an attempt on a piece, or on an empty cell."""
    outcome = OUTCOME_WORDS[attempt.outcome] if attempt.counts else "movable"
    shown = _shown(attempt.cell, piece)
    return {"number": attempt.number, **shown, "bucket": attempt.bucket, "outcome": outcome}
