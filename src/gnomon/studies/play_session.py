"""A session of human play: boards, attempts, and the view without the rule.

A session is a trial of an experiment with a person in the learner's seat. The boards come from the
same generator as a trial's, an attempt gets the reply that a learner gets, and
:meth:`PlaySession.log` is the record that a learner's trial leaves. What may leave the server is in
:class:`PlayView`, and nothing else is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from gnomon.experiments.scoring.mastery import attempts_to_master
from gnomon.game.board import N_BUCKETS, N_CELLS, Board, draw_boards
from gnomon.game.outcomes import IN_PROGRESS
from gnomon.game.reference import ReferenceGame
from gnomon.rules.parser import parse
from gnomon.studies.play_records import (
    END_WORDS,
    OUTCOME_WORDS,
    Attempt,
    Game,
    PlayError,
    PlayView,
    State,
)

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog
    from gnomon.rules.syntax import RuleSet


def boards_of(game: Game) -> npt.NDArray[np.uint8]:
    """Return the boards of a game, shape (episodes, 36): those of its trial 0."""
    from gnomon.experiments.config.config_entries import RuleEntry

    # As gnomon.experiments.trial deals them, so that a learner can be given the very same boards.
    rule = int(RuleEntry(game.rule_name, game.rule_text).hash[:32], 16)
    rng = np.random.default_rng([game.seed, rule, 0])
    return draw_boards(game.episodes, game.board, rng=rng)


@lru_cache(maxsize=512)
def _parsed(text: str) -> RuleSet:
    return parse(text)


class PlaySession:
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
    seen_at : float, optional
        When the player saw the board as it is, in seconds since 1970; now, if not given.

    Raises
    ------
    RulePlayError
        The rule cannot be played, see :class:`gnomon.game.reference.ReferenceGame`.

    Examples
    --------
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
        self._boards = boards_of(game)
        self._seen_at = time.time() if seen_at is None else seen_at
        self._deal(max(1, n_boards) - 1)
        # Only the board in play is played again: no board remembers another.
        for attempt in self._here():
            self._table.attempt_at(attempt.cell, attempt.bucket)

    @property
    def n_boards(self) -> int:
        """How many boards the player has been dealt."""
        return self.episode + 1

    @property
    def n_played(self) -> int:
        """How many boards count: a last one that was dealt and never touched does not."""
        untouched = not self._here() and self._table.finish == IN_PROGRESS
        return self.n_boards - (untouched and self.n_boards > 1)

    @property
    def left_off(self) -> bool:
        """Whether the player stopped in the middle of the last board that counts."""
        return self.gave_up and bool(self._here()) and self._goes_on()

    @property
    def state(self) -> State:
        """Where the game stands."""
        if self.gave_up:
            return "ended"
        if self._goes_on():
            return "playing"
        return "board over" if self.n_boards < self.game.episodes else "ended"

    def attempt(self, cell: int, bucket: int, *, now: float | None = None) -> Attempt:
        """Try to move the piece in a cell into a bucket.

        Parameters
        ----------
        cell, bucket : int
            1 to 36, 0 to 3.
        now : float, optional
            Seconds since 1970.

        Raises
        ------
        PlayError
            The board is over, or there is no such cell or bucket.
        """
        if self.state != "playing":
            raise PlayError(f"expected a board in play, found one that is {self._end()}")
        if not 1 <= cell <= N_CELLS:
            raise PlayError(f"cell: expected 1 to {N_CELLS}, found {cell}")
        if not 0 <= bucket < N_BUCKETS:
            raise PlayError(f"bucket: expected 0 to {N_BUCKETS - 1}, found {bucket}")
        outcome = self._table.attempt_at(cell, bucket)
        at = time.time() if now is None else now
        made = Attempt(
            self.episode,
            len(self._here()) + 1,
            cell,
            bucket,
            outcome,
            self._table.finish,
            max(0.0, at - self._seen_at),
            at,
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
        if self.state != "board over":
            raise PlayError(f"expected a board that is over, and one to come; this is {self.state}")
        self._seen_at = time.time() if now is None else now
        self._deal(self.episode + 1)

    def give_up(self) -> None:
        """End the game here."""
        if self.state == "ended":
            raise PlayError("expected a game in progress; this one has ended")
        self.gave_up = True

    def view(self) -> PlayView:
        """Return all that the player may see now."""
        here = self._here()
        good = [attempt.accepted for attempt in self.attempts]
        moves = sum(good)
        return PlayView(
            self.game.rule_name,
            self.state,
            "" if self.state == "playing" else self._end(),
            self.n_boards,
            self.game.episodes,
            self.game.horizon - len(here),
            tuple(self._shown(p.pos, p.shape, p.color) for p in self._table.pieces),
            tuple(
                self._shown(m.piece.pos, m.piece.shape, m.piece.color)
                | {"bucket": m.bucket, "order": order}
                for order, m in enumerate(self._table.memory, 1)
            ),
            tuple(self._told(attempt) for attempt in here),
            len(good) - moves,
            sum(not attempt.accepted for attempt in here),
            moves,
            _streak(good),
            math.isfinite(attempts_to_master(good)) if good else False,
        )

    def log(self) -> TrialLog:
        """Return what was played as the log of a trial, one episode for each board dealt."""
        from gnomon.learners.base import TrialLog

        n = np.bincount([a.episode for a in self.attempts], minlength=self.n_boards)
        finish = np.zeros(self.n_boards, dtype=np.int8)
        for attempt in self.attempts:
            finish[attempt.episode] = attempt.finish
        for episode in np.flatnonzero(n == 0).tolist():
            finish[episode] = self._new_table(episode).finish
        actions = [N_BUCKETS * (a.cell - 1) + a.bucket for a in self.attempts]
        return TrialLog(
            self._boards[: self.n_boards].copy(),
            n.astype(np.int64),
            np.array(actions, dtype=np.uint8),
            np.array([a.outcome for a in self.attempts], dtype=np.int8),
            finish,
        )

    def errors_by_board(self) -> list[int]:
        """Return the number of errors on each board that was dealt."""
        errors = [0] * self.n_boards
        for attempt in self.attempts:
            errors[attempt.episode] += not attempt.accepted
        return errors

    def board(self, episode: int) -> Board:
        """Return the board of an episode as it was dealt."""
        return Board.from_codes(self._boards[episode], self.game.board)

    # -- the board in play -----------------------------------------------------------------------

    def _deal(self, episode: int) -> None:
        self.episode = episode
        self._table = self._new_table(episode)
        self._cells = {piece.pos: piece for piece in self._table.pieces}

    def _new_table(self, episode: int) -> ReferenceGame:
        return ReferenceGame(_parsed(self.game.rule_text), self.board(episode))

    def _here(self) -> Sequence[Attempt]:
        """Return the attempts on the board in play, which are the last ones."""
        first = len(self.attempts)
        while first and self.attempts[first - 1].episode == self.episode:
            first -= 1
        return self.attempts[first:]

    def _goes_on(self) -> bool:
        """Tell whether the board in play is neither over nor cut off."""
        return self._table.finish == IN_PROGRESS and len(self._here()) < self.game.horizon

    def _end(self) -> str:
        if self.gave_up and self._goes_on():
            return "given up"
        return END_WORDS[self._table.finish]

    def _told(self, attempt: Attempt) -> dict[str, Any]:
        piece = self._cells.get(attempt.cell)
        shape, color = (piece.shape, piece.color) if piece else (None, None)
        shown = self._shown(attempt.cell, shape, color)
        outcome = OUTCOME_WORDS[attempt.outcome]
        return {"number": attempt.number, **shown, "bucket": attempt.bucket, "outcome": outcome}

    @staticmethod
    def _shown(cell: int, shape: str | None, color: str | None) -> dict[str, Any]:
        return {"cell": cell, "shape": shape, "color": color}


def _streak(good: Sequence[bool]) -> int:
    """Return the number of successes in a row at the end."""
    return next((i for i, each in enumerate(reversed(good)) if not each), len(good))
