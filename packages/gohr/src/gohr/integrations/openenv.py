"""The game in OpenEnv: a server of hidden rules, and a client of it.

``app(rule)`` is a FastAPI application for any ASGI server. A session is a websocket connection with
its own boards; plain ``POST /reset`` and ``/step`` have no session and cannot play. The
server never sends the rule.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

from gohr.env import HiddenRulesEnv
from gohr.outcomes import ACCEPTED
from gohr.registration import HORIZON


class Attempt(Action):
    """An attempt: the cell, counted from 0 at the bottom left, and the bucket."""

    cell: int = Field(ge=0, le=35)
    bucket: int = Field(ge=0, le=3)


class Seen(Observation):
    """Observation as in Gymnasium's environment, and the outcome of the attempt.

    ``board`` holds 36 codes; ``shape``, ``color`` and ``bucket`` are of the last accepted attempt,
    0 for none; ``outcome`` is the game's code, 6 of a new board. ``truncated`` if the horizon ended
    it.
    """

    board: list[int] = Field(default_factory=list)
    shape: int = 0
    color: int = 0
    bucket: int = 0
    outcome: int = 0
    truncated: bool = False


class Progress(State):
    """State of the episode: attempts (``step_count``) and errors."""

    errors: int = 0


class HiddenRulesEnvironment(Environment[Attempt, Seen, Progress]):
    """One session: a board at a time under a hidden rule; a reset deals the next."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, rule: str = "color-match", horizon: int = HORIZON) -> None:
        super().__init__()
        self._env, self._horizon = HiddenRulesEnv(rule), horizon
        self._progress = Progress()

    def reset(self, seed: int | None = None, episode_id: str | None = None, **options: Any) -> Seen:
        """Deal a board; with a seed, the first of the sequence that Gymnasium deals from it."""
        observation, info = self._env.reset(seed=seed)
        self._progress = Progress(episode_id=episode_id)
        return self._seen(observation, info, reward=None, done=info["stalemate"])

    def step(self, action: Attempt, timeout_s: float | None = None, **options: Any) -> Seen:
        """Make an attempt."""
        number = 4 * action.cell + action.bucket
        observation, reward, terminated, _, info = self._env.step(number)
        self._progress.step_count += 1
        self._progress.errors += info["outcome"] != ACCEPTED
        truncated = not terminated and self._progress.step_count >= self._horizon
        done = terminated or truncated
        return self._seen(observation, info, reward=reward, done=done, truncated=truncated)

    @property
    def state(self) -> Progress:
        """State of the episode."""
        return self._progress

    def _seen(
        self,
        observation: dict[str, Any],
        info: dict[str, Any],
        *,
        reward: float | None,
        done: bool,
        truncated: bool = False,
    ) -> Seen:
        return Seen(
            board=observation["board"].tolist(),
            shape=int(observation["shape"]),
            color=int(observation["color"]),
            bucket=int(observation["bucket"]),
            outcome=int(info["outcome"]),
            reward=reward,
            done=bool(done),
            truncated=truncated,
        )


def app(rule: str = "color-match", *, horizon: int = HORIZON, sessions: int = 8) -> FastAPI:
    """Return the application that serves a rule.

    Parameters
    ----------
    rule : str
        A name of the library, or a rule file.
    horizon : int
        Most attempts on a board.
    sessions : int
        Most clients at a time.

    Raises
    ------
    UnknownNameError, RuleSyntaxError
        If the rule does not exist or does not parse.
    """
    HiddenRulesEnv(rule)  # so that an unknown name is reported now

    def session() -> HiddenRulesEnvironment:
        return HiddenRulesEnvironment(rule, horizon)

    return create_app(session, Attempt, Seen, env_name="gohr", max_concurrent_envs=sessions)


class HiddenRulesClient(EnvClient[Attempt, Seen, Progress]):
    """A client of :func:`app`; ``HiddenRulesClient(base_url=...).sync()`` in programs that wait."""

    def _step_payload(self, action: Attempt) -> dict[str, Any]:
        return {"cell": action.cell, "bucket": action.bucket}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Seen]:
        # Reward and end are next to the observation.
        both = {name: payload.get(name) for name in ("reward", "done")}
        seen = Seen(**payload["observation"], reward=both["reward"], done=bool(both["done"]))
        return StepResult(observation=seen, reward=both["reward"], done=bool(both["done"]))

    def _parse_state(self, payload: dict[str, Any]) -> Progress:
        return Progress(**payload)
