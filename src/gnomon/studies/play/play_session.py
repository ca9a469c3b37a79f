"""A session of human play: boards, attempts, and the view without the rule.

A session is a trial of an experiment with a person in the learner's seat. The boards come from the
same generator as a trial's, an attempt gets the reply that a learner gets, and
:meth:`PlaySession.log` is the record that a learner's trial leaves. What may leave the server is in
:class:`PlayView`, and nothing else is.
"""

from __future__ import annotations

import time
from dataclasses import replace

from gnomon.studies.play.play_progress import PlayProgress
from gnomon.studies.play.play_records import Attempt, ClientTimes, PlayError, PlayView, check_place
from gnomon.studies.play.play_rewards import movable_cells, success_ratio
from gnomon.studies.play.play_view import view_of
from gnomon.studies.play.turns import Seats


class PlaySession(PlayProgress):
    """A game in progress; rebuilt from its attempts wherever and whenever it is needed.

    Parameters
    ----------
    game : Game
        What is played.
    attempts : iterable of Attempt
        What was done before, in order; empty for a new game.
    n_boards : int
        How many boards the player has been dealt; at least 1.
    gave_up : bool
        Whether the player has ended the game before its last board.
    bonus_from : int, optional
        The board, from 0, with which the player began the bonus.
    seen_at : float, optional
        When the player saw the board as it is, in seconds since 1970; now, if not given.

    Raises
    ------
    RulePlayError
        The rule cannot be played, see :class:`gnomon.game.reference.ReferenceGame`.

    Examples
    --------
    >>> from gnomon.studies import Game
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

    def attempt(
        self,
        cell: int,
        bucket: int | None,
        *,
        mover: int = 0,
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
        mover : int
            The seat of who tries.
        now : float, optional
            Seconds since 1970.
        client : ClientTimes, optional
            What the player's own clock measured.

        Raises
        ------
        PlayError
            The board is over, there is no such cell or bucket, or no such attempt can be made here;
            it is the other's turn.
        """
        self._check_attempt(cell, bucket)
        if mover != self.turn:
            raise PlayError("expected to be in turn; it is the partner's now")
        ratio = 1.0
        if self.game.terms.needs_ratios:
            ratio = success_ratio(self.table, cell, only_movable=self.is_fixed)
        outcome = self._make(cell, bucket)
        at = time.time() if now is None else now
        made = Attempt(
            self.episode,
            len(self.here()) + 1,
            cell,
            bucket,
            outcome,
            self.table.finish,
            max(0.0, at - self._seen_at),
            at,
            client,
            mover,
        )
        self.attempts.append(made)
        self._ratios.append(ratio)
        self._seen_at = at
        return made

    def bot_attempt(self, *, now: float | None = None) -> Attempt | None:
        """Make the attempt of a bot that is in turn; None if none is."""
        seats, plan = self.game.seats, self.game.terms.partner
        if seats is None or plan is None or seats.bot != self.turn or self.state != "playing":
            return None
        suggested = self._suggestion(plan.bot, 2, len(self.here()))
        # While the board goes on there is a piece that can be moved.
        assert suggested is not None
        return self.attempt(suggested.cell, suggested.bucket, mover=seats.bot, now=now)

    def _check_attempt(self, cell: int, bucket: int | None) -> None:
        if self.state != "playing":
            raise PlayError(f"expected a board in play, found one that is {self.end()}")
        check_place(cell, bucket, self.game.terms)
        if self.is_fixed and cell not in movable_cells(self.table):
            raise PlayError("expected a piece that can be moved now; this one is crossed out")

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

    def begin_bonus(self, *, now: float | None = None) -> None:
        """Make this board a bonus board, or deal one if this board is over.

        Raises
        ------
        PlayError
            There is no bonus, or it cannot begin yet, or it has begun.
        """
        if not self._can_begin_bonus():
            raise PlayError("expected a bonus that can be begun now")
        over = not self._goes_on()
        self.bonus_from = self.episode + over
        if over:
            self._seen_at = time.time() if now is None else now
            self._deal(self.episode + 1)

    def reseat(self, seats: Seats | None, *, now: float | None = None) -> None:
        """Note who plays from now on: a partner has come, or has gone."""
        self.game = replace(self.game, seats=seats)
        self._seen_at = time.time() if now is None else now

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

    def view(self, seat: int = 0) -> PlayView:
        """Return all that the player of a seat may see now."""
        return view_of(self, seat)
