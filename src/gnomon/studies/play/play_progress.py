"""Progress of a game of human play: what stands, what may be done, and what it has earned.

All of it follows from the game and its attempts; :class:`PlaySession` adds to these.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from gnomon.game.board import N_CELLS, Board
from gnomon.game.outcomes import IN_PROGRESS
from gnomon.game.reference import ReferenceGame
from gnomon.rules.parser import parse
from gnomon.studies.plan.series_plan import Bonus, BotAssist
from gnomon.studies.play.board_dealing import boards_of
from gnomon.studies.play.bot_assist import Hint, hint_for
from gnomon.studies.play.play_records import (
    END_WORDS,
    Action,
    Attempt,
    Game,
    State,
    log_of_attempts,
)
from gnomon.studies.play.play_rewards import own_shares, rated_boards, success_ratio
from gnomon.studies.play.rewards import BoardEnd, PlayedBoard, SeriesReward, is_lost, reward_of

if TYPE_CHECKING:
    from gnomon.learners.base import TrialLog
    from gnomon.rules.syntax import RuleSet


@lru_cache(maxsize=512)
def _parsed(text: str) -> RuleSet:
    return parse(text)


class PlayProgress:
    """Progress of a game: what stands, what may be done, and what was earned.

    Parameters and errors are those of :class:`PlaySession`, which plays on.

    Examples
    --------
    >>> from gnomon.studies import Game
    >>> progress = PlayProgress(Game("any", "(*,*,*,*,*)", seed=1, episodes=2))
    >>> progress.state, progress.may, progress.next_attempt
    ('playing', ('give up',), (1, 1))
    """

    def __init__(
        self,
        game: Game,
        attempts: Iterable[Attempt] = (),
        *,
        n_boards: int = 1,
        gave_up: bool = False,
        bonus_from: int | None = None,
        seen_at: float | None = None,
    ) -> None:
        self.game = game
        self.attempts = list(attempts)
        self.gave_up = gave_up
        self.bonus_from = bonus_from
        self.is_fixed = game.terms.feedback == "fixed"
        self._boards = boards_of(game)
        self._seen_at = time.time() if seen_at is None else seen_at
        self._ratios = [1.0] * len(self.attempts)
        if game.terms.needs_ratios:
            self._ratios = [
                success_ratio(self.table, attempt.cell, only_movable=self.is_fixed)
                for attempt in self.replayed(n_boards)
            ]
        self._deal(max(1, n_boards) - 1)
        # Only the board in play is played again: no board remembers another.
        for attempt in self.here():
            self._make(attempt.cell, attempt.bucket)

    @property
    def n_boards(self) -> int:
        """How many boards the player has been dealt."""
        return self.episode + 1

    @property
    def n_played(self) -> int:
        """How many boards count: a last one that was dealt and never touched does not."""
        untouched = not self.here() and self.table.finish == IN_PROGRESS
        return self.n_boards - (untouched and self.n_boards > 1)

    @property
    def left_off(self) -> bool:
        """Whether the player stopped in the middle of the last board that counts."""
        return self.gave_up and bool(self.here()) and self._is_open()

    @property
    def state(self) -> State:
        """Where the game stands."""
        if self.game.seats is not None and self.game.seats.is_open:
            return "waiting"
        if not self.gave_up and self._goes_on():
            return "playing"
        follows = not self.gave_up and (self._can_go_on() or self._can_begin_bonus())
        return "board over" if follows else "ended"

    @property
    def next_attempt(self) -> tuple[int, int]:
        """Board and number of the attempt that comes next, both from 1."""
        return self.n_boards, len(self.here()) + 1

    @property
    def may(self) -> tuple[Action, ...]:
        """What the player may do besides moving pieces."""
        state = self.state
        if state in ("ended", "waiting"):
            return ()
        found: list[Action] = ["next"] if state == "board over" and self._can_go_on() else []
        if self._can_begin_bonus():
            found.append("bonus")
        seats, latest = self.game.seats, self.game.terms.give_up_at
        is_last = "next" not in found
        between = state == "board over" and latest is not None
        offered = latest is None or (between and (is_last or self.n_boards <= latest))
        # Nobody ends a game for somebody else.
        if offered and not (seats is not None and seats.has_two_people):
            found.append("give up")
        if state == "playing" and self.game.terms.pick_cost is not None:
            found.append("pick")
        return tuple(found)

    @property
    def turn(self) -> int:
        """The seat that has the next attempt; 0 for one alone."""
        return 0 if self.game.seats is None else self.game.seats.turn(self.attempts)

    def _make(self, cell: int, bucket: int | None) -> int:
        if bucket is None:
            return self.table.pick_at(cell)
        return self.table.attempt_at(cell, bucket)

    @property
    def hint(self) -> Hint | None:
        """What a bot suggests: after each attempt but an accepted pick, and until the next one."""
        return self._hint() if self.state == "playing" else None

    def hints(self) -> dict[tuple[int, int], Hint | None]:
        """Return the hint that was on the screen at each attempt, by episode and number.

        A bot's hints follow from the seed and the attempts before, so that they are not kept.
        """
        again, found = PlayProgress(self.game), dict[tuple[int, int], Hint | None]()
        for attempt in self.attempts if self.game.terms.bot_assist is not None else ():
            if attempt.episode != again.episode:
                again._deal(attempt.episode)
            found[attempt.episode, attempt.number] = again._hint()
            again._make(attempt.cell, attempt.bucket)
            again.attempts.append(attempt)
        return found

    def _hint(self) -> Hint | None:
        plan = self.game.terms.bot_assist
        counted = [attempt.number for attempt in self.here() if attempt.counts]
        return self._suggestion(plan, 1, counted[-1]) if plan is not None and counted else None

    def _suggestion(self, plan: BotAssist, stream: int, number: int) -> Hint | None:
        """Return a bot's move: of its own stream of numbers, the same again after a restart."""
        n_attempts = sum(attempt.counts for attempt in self.attempts)
        rng = np.random.default_rng([self.game.seed, stream, self.episode, number])
        return hint_for(self.table, plan, n_attempts, only_movable=self.is_fixed, rng=rng)

    def reward(self, seat: int = 0) -> SeriesReward:
        """Return what the series has earned so far; adversaries earn apart."""
        return reward_of(self.game.terms, self.played_boards(seat))

    def played_boards(self, seat: int = 0) -> list[PlayedBoard]:
        """Return the boards that were dealt, as far as rewards are concerned."""
        found = self.rated_boards(seat)
        return [*found[:-1], replace(found[-1], end="" if self._goes_on() else self.end())]

    def log(self, seat: int | None = None) -> TrialLog:
        """Return what was played as the log of a trial, one episode for each board dealt.

        Picks are as in :func:`~gnomon.studies.play.play_records.log_of_attempts`. Of two at a
        board, the attempts of the person in ``seat`` are the ``own`` ones.
        """
        seats = self.game.seats
        mine = None
        if seat is not None and seats is not None:
            mine = set(seats.of_person(self.attempts, seat))
        dealt = self._boards[: self.n_boards]
        return log_of_attempts(dealt, self.attempts, self._starts(), mine)

    def errors_by_board(self, seat: int = 0) -> list[int]:
        """Return the number of errors on each board that was dealt, as :meth:`attempts_of`."""
        errors = [0] * self.n_boards
        for attempt in self.attempts_of(seat):
            errors[attempt.episode] += attempt.counts and not attempt.accepted
        return errors

    def attempts_of(self, seat: int) -> list[Attempt]:
        """Return the attempts that a player answers for: an adversary's own, else all."""
        seats = self.game.seats
        apart = seats is not None and seats.play == "adversarial"
        return [each for each in self.attempts if not apart or each.mover == seat]

    def board(self, episode: int) -> Board:
        """Return the board of an episode as it was dealt."""
        return Board.from_codes(self._boards[episode], self.game.board)

    # -- the board in play -----------------------------------------------------------------------

    def _deal(self, episode: int) -> None:
        self.episode = episode
        self.table = self._new_table(episode)
        self.cells = {piece.place: piece for piece in self.table.pieces}

    def _new_table(self, episode: int) -> ReferenceGame:
        return ReferenceGame(_parsed(self.game.rule_text), self.board(episode))

    def here(self) -> Sequence[Attempt]:
        """Return the attempts on the board in play, which are the last ones."""
        first = len(self.attempts)
        while first and self.attempts[first - 1].episode == self.episode:
            first -= 1
        return self.attempts[first:]

    def _goes_on(self) -> bool:
        """Tell whether the board in play is neither over nor cut off."""
        if self.gave_up or not self._is_open():
            return False
        return not self.is_mastered and not self._is_lost()

    def _is_open(self) -> bool:
        """Tell whether rule and horizon let the board in play go on."""
        return self.table.finish == IN_PROGRESS and len(self.here()) < self.game.horizon

    @property
    def is_mastered(self) -> bool:
        """Whether mastery has ended the series; of two at a board, that of either."""
        return any(
            self.is_mastered_by(seat) for seat in ((0,) if self.game.seats is None else (0, 1))
        )

    def is_mastered_by(self, seat: int) -> bool:
        """Whether the attempts that a player answers for have ended the series."""
        terms = self.game.terms
        return terms.ends_early and reward_of(terms, self.rated_boards(seat)).mastered

    def end(self) -> BoardEnd:
        """Return how the board ended, or would if nothing more was done."""
        if self.is_mastered:
            return "mastered"
        if self._is_lost():
            return "lost"
        if self.gave_up and self._is_open():
            seats = self.game.seats
            return "given up" if seats is None or seats.gone is None else "left by partner"
        return END_WORDS[self.table.finish]

    def n_boards_to_come(self) -> int:
        """Return how many boards there are, as far as it is known."""
        if self.bonus_from is None:
            return self.game.episodes
        return self.bonus_from + self.game.terms.bonus_boards

    def _can_go_on(self) -> bool:
        """Tell whether another board of this part follows the board that is over."""
        if self.is_mastered or (self.bonus_from is not None and self.reward().bonus_over):
            return False
        return self.n_boards < self.n_boards_to_come()

    def _can_begin_bonus(self) -> bool:
        incentive = self.game.terms.incentive
        if not isinstance(incentive, Bonus) or self.bonus_from is not None or self.gave_up:
            return False
        return self.n_boards + (not self._goes_on()) >= incentive.activate_at

    def _is_lost(self) -> bool:
        return self.bonus_from is not None and is_lost(self.game.terms, self.rated_boards()[-1])

    def rated_boards(self, seat: int = 0) -> list[PlayedBoard]:
        """Return the boards of a seat as rewards see them, the last one as if it went on."""
        sizes = (self._boards[: self.n_boards, :N_CELLS] > 0).sum(axis=1).tolist()
        rated = rated_boards(sizes, self._starts(), self.attempts, self._ratios, self.bonus_from)
        return own_shares(rated, self.game.seats, seat)

    def _starts(self) -> list[int]:
        """Return how each board stood before its first attempt."""
        touched = {attempt.episode for attempt in self.attempts}
        return [
            IN_PROGRESS if episode in touched else self._new_table(episode).finish
            for episode in range(self.n_boards)
        ]

    def replayed(self, n_boards: int) -> Iterator[Attempt]:
        """Play boards again, and yield each attempt while the table is as it was before it."""
        for episode in range(n_boards):
            self._deal(episode)
            for attempt in self.attempts:
                if attempt.episode == episode:
                    yield attempt
                    self._make(attempt.cell, attempt.bucket)
