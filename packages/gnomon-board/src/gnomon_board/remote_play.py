"""Play of a hidden season over the network: a learner plays all trials of an attempt.

Many trials are played at the same time, and each message to the server has the next attempt of
each. Answered attempts count. An interrupted run continues when it is started again: the learner
repeats its attempts, which get the same answers, until it reaches new ones. Therefore its only
source of randomness must be its seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon.files import read_toml
from gnomon_board.client import Client
from gnomon_board.errors import LeaderboardError, wrong_field
from gnomon_board.remote_game import MAX_MOVES, Move, Reply
from gohr import BoardSpec, Learner
from gohr.experiments import LearnerEntry, Progress, season_board_spec
from gohr.game import ACCEPTED, EPISODE_OVER, IN_PROGRESS, N_BUCKETS, N_CELLS
from gohr.learners import Observation, Transition, is_shown_the_rule, learner_kinds


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
    client: Client,
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
    client : Client
        Of the leaderboard.
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
    learner_kinds(plan.learner.kind)  # reject an unknown kind before the server makes an entry
    if is_shown_the_rule(plan.learner.kind):
        raise LeaderboardError(
            f"learner {plan.learner.kind!r} must be shown the rule, and the server keeps it"
        )
    entry = client.entry(plan.season, plan.entry)
    if again:
        entry = client.next_attempt(entry["id"])
    number = max(attempt["number"] for attempt in entry["attempts"])
    attempt = client.begin(entry["id"], number)
    spec = season_board_spec(attempt.board)
    plan = replace(plan, learner=plan.learner.completed(spec))
    waiting = [trial for trial in reversed(attempt.trials) if trial.state != "done"]
    n_trials, n_attempts = len(waiting), 0
    tell = progress or (lambda n_played, n_to_play: None)
    tell(0, n_trials)
    playing: dict[int, _InPlay] = {}
    while waiting or playing:
        while waiting and len(playing) < min(together, MAX_MOVES):
            trial = waiting.pop()
            learner = plan.learner.make(spec, rng=learner_rng(plan, trial.rule, trial.number))
            attempts = _attempts_of(learner, spec, attempt.horizon)
            playing[trial.trial] = _InPlay(attempts, 0, next(attempts))
        moves = [Move(trial=k, position=t.position, actions=t.actions) for k, t in playing.items()]
        for reply in client.move(moves):
            played = playing[reply.trial]
            played.position = reply.position
            n_attempts += len(reply.outcomes)
            try:
                played.actions = played.attempts.send(reply)
            except StopIteration:
                del playing[reply.trial]
                tell(n_trials - len(waiting) - len(playing), n_trials)
    skipped = len(attempt.trials) - n_trials
    return RemoteSummary(plan.season, entry["id"], number, n_trials, skipped, n_attempts)


def learner_rng(plan: RemotePlan, rule: str, number: int) -> np.random.Generator:
    """Return the generator that the learner draws from in a trial."""
    words = [plan.season, rule, plan.learner.hash, str(number)]
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    return np.random.default_rng([plan.seed, int.from_bytes(digest[:16], "big")])


@dataclass
class _InPlay:
    """A trial that is being played: its learner, its position, and its next attempts."""

    attempts: Generator[list[int], Reply, None]
    position: int
    actions: list[int]


class _SeenBoard:
    """Board of an episode reconstructed from replies: an accepted attempt removes a piece.

    ``last`` holds shape, colour and bucket of the last accepted attempt, 0 for none and else 1 +
    index.
    """

    def __init__(self, codes: Sequence[int], spec: BoardSpec) -> None:
        self.codes = np.array(codes, dtype=np.uint8)
        self._n_colors = len(spec.color_palette)
        self.last = (0, 0, 0)

    def attempted(self, action: int, outcome: int) -> None:
        """Update the board with the outcome of an attempt."""
        if outcome == ACCEPTED:
            cell, bucket = divmod(action, N_BUCKETS)
            shape, color = divmod(int(self.codes[cell]) - 1, self._n_colors)
            self.codes[cell] = 0
            self.last = (1 + shape, 1 + color, 1 + bucket)

    def seen(self) -> Observation:
        """Return what a learner observes."""
        mask = np.repeat(self.codes > 0, N_BUCKETS).astype(np.int8)
        return Observation(self.codes.copy(), *self.last, mask)


def _attempts_of(
    learner: Learner, spec: BoardSpec, horizon: int
) -> Generator[list[int], Reply, None]:
    """Let a learner play a trial: yield its next attempts, and receive their reply by ``send``.

    The first have no attempt and request the first boards. The learner gets the same observations
    and outcomes as from :func:`gohr.play` on the same boards.
    """
    reply = yield []
    while not reply.over:
        reply = yield from _episode(learner, _SeenBoard(reply.dealt[-1], spec), horizon)


def _episode(
    learner: Learner, board: _SeenBoard, horizon: int
) -> Generator[list[int], Reply, Reply]:
    """Play one board, and return the reply that ended it."""
    seen, n_attempts = board.seen(), 0
    last: Reply | None = None
    while True:
        action = int(learner.act(seen))
        if not 0 <= action < N_CELLS * N_BUCKETS:
            raise ValueError(f"expected an action from 0 to 143, found {action}")
        if last is None or not last.ended:
            last = yield [action]
            (outcome,) = last.outcomes
        else:
            # A learner that plays on after the end; nothing is sent to the server.
            outcome = EPISODE_OVER
        n_attempts += 1
        board.attempted(action, outcome)
        terminated = last.finish != IN_PROGRESS and not learner.plays_on
        truncated = n_attempts >= horizon
        after = board.seen()
        reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
        learner.observe(Transition(seen, action, reward, outcome, after, terminated, truncated))
        seen = after
        if terminated or truncated:
            return last
