"""Play of a hidden season over the network: a learner plays all trials of an assignment.

Many trials are played at the same time, and each message to the server has the next attempt of
each. Answered attempts count. An interrupted run continues when it is started again: the learner
repeats its attempts, which get the same answers, until it reaches new ones. Therefore its only
source of randomness must be its seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon.text_files import read_toml
from gnomon_board.client import Client
from gnomon_board.drawn_rules import Progress
from gnomon_board.errors import LeaderboardError, wrong_field
from gnomon_board.remote_game import Move, Reply
from gohr import N_BUCKETS, N_CELLS, BoardSpec, Learner
from gohr.experiments import LearnerEntry
from gohr.learners import Transition, is_shown_the_rule, learner_kinds
from gohr.outcomes import ACCEPTED, EPISODE_OVER, IN_PROGRESS
from gohr.playing import SeenBoard

#: Trials that are played at the same time.
_TOGETHER = 64


class RemotePlan(BaseModel):
    """Plan of a remote run: season, name of the entry, learner, and seed of its draws.

    ``learner`` is a kind, or a table with ``kind`` and settings, which are not sent to the server.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    season: Annotated[str, Field(min_length=1)]
    entry: str = ""
    learner: str | dict[str, Any]
    seed: Annotated[int, Field(strict=True, ge=0)] = 0

    @classmethod
    def from_toml(cls, path: str | Path) -> RemotePlan:
        """Read a plan from a TOML file; raise GnomonError if it is not valid."""
        return read_toml(path, cls.from_record, error=LeaderboardError)

    @classmethod
    def from_record(cls, values: Mapping[str, Any]) -> RemotePlan:
        """Read a plan from its fields; raise LeaderboardError for the first invalid one."""
        try:
            plan = cls.model_validate(dict(values))
        except ValidationError as errors:
            raise wrong_field(errors, cls) from None
        if isinstance(plan.learner, dict) and not isinstance(plan.learner.get("kind"), str):
            raise LeaderboardError("field 'learner': expected a kind, or a table with one")
        return plan.model_copy(update={"entry": plan.entry or plan.learner_entry().name})

    def learner_entry(self) -> LearnerEntry:
        """Return the learner with its settings."""
        table = self.learner if isinstance(self.learner, dict) else {"kind": self.learner}
        settings = {name: value for name, value in table.items() if name not in ("kind", "name")}
        return LearnerEntry(table["kind"], str(table.get("name", table["kind"])), settings)


def learner_rng(
    plan: RemotePlan, learner: LearnerEntry, rule: str, number: int
) -> np.random.Generator:
    """Return the generator that the learner draws from in a trial."""
    words = [plan.season, rule, learner.hash, str(number)]
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    return np.random.default_rng([plan.seed, int.from_bytes(digest[:16], "big")])


def play_remotely(
    plan: RemotePlan, client: Client, *, again: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """Play the last assignment of an entry, or continue it; with ``again``, request another first.

    Returns the season, the entry and the assignment, the number of trials played now (``done``) and
    before (``skipped``), and the number of attempts that were sent.
    """
    learner = plan.learner_entry()
    learner_kinds(learner.kind)  # reject an unknown kind before the server makes an entry
    if is_shown_the_rule(learner.kind):
        raise LeaderboardError(
            f"learner {learner.kind!r} must be shown the rule, which the server does not reveal"
        )
    entry = client.entry(plan.season, plan.entry)
    if again:
        entry = client.next_attempt(entry["id"])
    number = max(attempt["number"] for attempt in entry["attempts"])
    attempt = client.begin(entry["id"], number)
    spec = BoardSpec(**attempt.board)
    learner = learner.completed(spec)
    waiting = [trial for trial in reversed(attempt.trials) if trial.state != "done"]
    n_trials, n_attempts = len(waiting), 0
    tell = progress or (lambda n_played, n_to_play: None)
    tell(0, n_trials)
    playing: dict[int, tuple[_Playing, int, list[int]]] = {}
    while waiting or playing:
        while waiting and len(playing) < _TOGETHER:
            trial = waiting.pop()
            rng = learner_rng(plan, learner, trial.rule, trial.number)
            attempts = _attempts_of(learner.make(spec, rng=rng), spec, attempt.horizon)
            playing[trial.trial] = attempts, 0, next(attempts)
        moves = [Move(trial=k, position=at, actions=a) for k, (_, at, a) in playing.items()]
        for reply in client.move(moves):
            attempts = playing[reply.trial][0]
            n_attempts += len(reply.outcomes)
            try:
                playing[reply.trial] = attempts, reply.position, attempts.send(reply)
            except StopIteration:
                del playing[reply.trial]
                tell(n_trials - len(waiting) - len(playing), n_trials)
    return {
        "season": plan.season,
        "entry": entry["id"],
        "attempt": number,
        "done": n_trials,
        "skipped": len(attempt.trials) - n_trials,
        "n_attempts": n_attempts,
    }


#: Yields the next attempts of a trial, and receives their reply.
_Playing = Generator[list[int], Reply, None]


def _attempts_of(learner: Learner, spec: BoardSpec, horizon: int) -> _Playing:
    """Let a learner play a trial; the first attempts are none, which requests the first boards.

    The learner gets the same observations and outcomes as from :func:`gohr.play`.
    """
    reply = yield []
    while not reply.over:
        board, n_attempts, dealt = SeenBoard(reply.dealt[-1], spec), 0, reply
        seen, terminated, truncated = board.observation(), False, False
        while not (terminated or truncated):
            action = int(learner.act(seen))
            if not 0 <= action < N_CELLS * N_BUCKETS:
                raise ValueError(f"expected an action from 0 to 143, found {action}")
            # A learner may play on after the end; then nothing is sent to the server.
            outcome = EPISODE_OVER
            if reply is dealt or not reply.ended:
                reply = yield [action]
                (outcome,) = reply.outcomes
            n_attempts += 1
            board.attempted(action, outcome)
            terminated = reply.finish != IN_PROGRESS and not learner.plays_on
            truncated = n_attempts >= horizon
            before, seen = seen, board.observation()
            reward = 0.0 if outcome in (ACCEPTED, EPISODE_OVER) else -1.0
            made = Transition(before, action, reward, outcome, seen, terminated, truncated)
            learner.observe(made)
