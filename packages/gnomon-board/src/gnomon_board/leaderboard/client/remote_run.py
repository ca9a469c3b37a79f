"""``gohr run CONFIG --server URL``: a learner plays a season of the hidden division.

Many trials are played at the same time, and each message to the server has the next attempt of each
trial. Answered attempts count. The same command continues an interrupted run: the learner repeats
its attempts, which get the same answers, until it reaches new ones. Therefore its only source of
randomness must be its seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon.files import read_toml
from gnomon_board.errors import LeaderboardError, wrong_field
from gnomon_board.leaderboard.client.remote_connection import Connection, RemoteBoard
from gnomon_board.leaderboard.client.remote_learner import attempts_of
from gnomon_board.leaderboard.hidden.protocol import MAX_MOVES, AttemptPlay, Move, Reply, TrialState
from gohr import BoardSpec
from gohr.experiments import LearnerEntry, Progress, season_board_spec
from gohr.learners import is_shown_the_rule, learner_fields


@dataclass(frozen=True, slots=True)
class RemotePlan:
    """Plan of a remote run: season, entry, learner, seed.

    Parameters
    ----------
    season : str
        Name of the season.
    entry : str
        Name of the learner on the board; it is registered if it does not exist.
    learner : LearnerEntry
        Its kind and settings, which are not sent to the server.
    seed : int
        Of the learner's own draws. The server draws the boards.

    Examples
    --------
    >>> plan = RemotePlan.from_record({"season": "s1", "entry": "Mine", "learner": "uniform"})
    >>> plan.entry, plan.learner.kind, plan.seed
    ('Mine', 'uniform', 0)
    """

    season: str
    entry: str
    learner: LearnerEntry
    seed: int = 0

    @classmethod
    def from_toml(cls, path: str | Path) -> RemotePlan:
        """Read a plan from a TOML file with ``season``, ``entry``, ``learner`` and ``seed``.

        Raises
        ------
        GnomonError
            The file is not valid; one line that begins with its name.
        """
        return read_toml(path, cls.from_record, error=LeaderboardError)

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> RemotePlan:
        """Read a plan from its fields; raise LeaderboardError for the first invalid one."""
        try:
            fields = _PlanFields.model_validate(dict(values))
        except ValidationError as errors:
            raise wrong_field(errors) from None
        table = fields.learner if isinstance(fields.learner, dict) else {"kind": fields.learner}
        settings = {name: value for name, value in table.items() if name not in ("kind", "name")}
        kind = table.get("kind")
        if not isinstance(kind, str):
            raise LeaderboardError("field 'learner': expected a kind, or a table with one")
        name = fields.entry or str(table.get("name", kind))
        return cls(fields.season, name, LearnerEntry(kind, name, settings), fields.seed)


class _PlanFields(BaseModel):
    model_config = ConfigDict(extra="forbid")
    season: Annotated[str, Field(min_length=1)]
    entry: str = ""
    learner: str | dict[str, Any]
    seed: Annotated[int, Field(strict=True, ge=0)] = 0


@dataclass(frozen=True, slots=True)
class RemoteSummary:
    """Summary of a call of :func:`play_remotely`, which needs a running leaderboard.

    Parameters
    ----------
    season, entry, attempt : str, int, int
        The attempt that was played, and its entry.
    done, skipped : int
        Number of trials played in this call, and before it.
    n_attempts : int
        Number of attempts that were sent.
    """

    season: str
    entry: int
    attempt: int
    done: int
    skipped: int
    n_attempts: int


def play_remotely(
    plan: RemotePlan,
    board: RemoteBoard,
    *,
    again: bool = False,
    together: int = 64,
    progress: Progress | None = None,
) -> RemoteSummary:
    """Play the last attempt of an entry, or continue it.

    It needs a running leaderboard with an open season of the hidden division, and a token.

    Parameters
    ----------
    plan : RemotePlan
        Season, entry and learner.
    board : RemoteBoard
        The leaderboard.
    again : bool
        Request another attempt first; it is counted and shown.
    together : int
        Number of trials that are played at the same time, at most 512.
    progress : Progress, optional
        Called after each trial.

    Returns
    -------
    RemoteSummary

    Raises
    ------
    GnomonError
        The plan cannot be played, or the server refuses or cannot be reached.
    """
    learner_fields(plan.learner.kind)  # reject an unknown kind before the server makes an entry
    if is_shown_the_rule(plan.learner.kind):
        raise LeaderboardError(
            f"learner {plan.learner.kind!r} must be shown the rule, and the server keeps it"
        )
    entry = board.entry(plan.season, plan.entry)
    if again:
        entry = board.next_attempt(entry["id"])
    number = max(attempt["number"] for attempt in entry["attempts"])
    play = board.begin(entry["id"], number)
    spec = season_board_spec(play.board)
    connection = board.connect()
    try:
        complete = replace(plan, learner=plan.learner.completed(spec))
        run = _Run(complete, play, spec, connection, progress or (lambda n_played, n_to_play: None))
        done, n_attempts = run.play(min(together, MAX_MOVES))
    finally:
        connection.close()
    skipped = len(play.trials) - done
    return RemoteSummary(plan.season, entry["id"], number, done, skipped, n_attempts)


@dataclass
class _InPlay:
    """A trial that is being played: its learner, its position, and its next attempt."""

    attempts: Generator[int, Reply, None]
    position: int
    action: int


@dataclass(frozen=True)
class _Run:
    """Trials that are played together, one message after another."""

    plan: RemotePlan
    attempt: AttemptPlay
    spec: BoardSpec
    connection: Connection
    progress: Progress

    def play(self, together: int) -> tuple[int, int]:
        """Play every unfinished trial; return the number of trials and of attempts."""
        waiting = [trial for trial in self.attempt.trials if trial.state != "done"]
        n_trials, n_attempts = len(waiting), 0
        waiting.reverse()
        playing: dict[int, _InPlay] = {}
        self.progress(0, n_trials)
        while waiting or playing:
            while waiting and len(playing) < together:
                begun = [waiting.pop() for _ in range(min(together - len(playing), len(waiting)))]
                playing |= self._begin(begun)
            n_attempts += len(playing)
            if self._advance(playing):
                self.progress(n_trials - len(waiting) - len(playing), n_trials)
        return n_trials, n_attempts

    def _begin(self, trials: list[TrialState]) -> dict[int, _InPlay]:
        """Create the learners of some trials, and get the first attempt of each."""
        moves = [Move(trial=trial.trial, position=0, actions=[]) for trial in trials]
        begun: dict[int, _InPlay] = {}
        for trial, first in zip(trials, self.connection.move(moves), strict=True):
            rng = learner_rng(self.plan, trial.rule, trial.number)
            learner = self.plan.learner.make(self.spec, rng=rng)
            attempts = attempts_of(learner, first, self.spec, horizon=self.attempt.horizon)
            action = next(attempts, None)
            if action is not None:
                begun[trial.trial] = _InPlay(attempts, 0, action)
        return begun

    def _advance(self, playing: dict[int, _InPlay]) -> bool:
        """Send the next attempt of every trial; return whether any is over."""
        moves = [
            Move(trial=trial, position=each.position, actions=[each.action])
            for trial, each in playing.items()
        ]
        if not moves:
            return True
        n_before = len(playing)
        for reply in self.connection.move(moves):
            each = playing[reply.trial]
            each.position = reply.position
            try:
                each.action = each.attempts.send(reply)
            except StopIteration:
                del playing[reply.trial]
        return len(playing) < n_before


def learner_rng(plan: RemotePlan, rule: str, number: int) -> np.random.Generator:
    """Return the generator that the learner draws from in a trial."""
    words = [plan.season, rule, plan.learner.hash, str(number)]
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    return np.random.default_rng([plan.seed, int.from_bytes(digest[:16], "big")])
