"""Wrappers of the environment that decide how much of the history a learner sees.

The paper's state is the whole history of an episode. Its learner needs the last accepted attempt
alone, which is part of every observation; these wrappers give that as one flat vector, or more.
The wrappers in use are listed in ``env.spec.additional_wrappers``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from gnomon.errors import check_count
from gohr.board import N_BUCKETS, N_CELLS
from gohr.outcomes import ACCEPTED

_Env: TypeAlias = gymnasium.Env[dict[str, Any], Any]

#: An attempt in a history: 1 + cell, 1 + bucket, shape and colour of the piece (0 for an empty
#: cell), and whether it was accepted. A row of zeros means no attempt.
_WIDTH = 5


class LastSuccess(
    gymnasium.ObservationWrapper[npt.NDArray[np.int64], Any, dict[str, Any]],
    gymnasium.utils.RecordConstructorArgs,
):
    """The board and the last accepted attempt as one vector of 39 integers.

    That is enough for the features of the paper's learner: 36 codes, then shape, colour and bucket
    of the last accepted attempt, each 0 for none.

    Examples
    --------
    >>> import gymnasium, gohr
    >>> env = LastSuccess(gymnasium.make("gohr/Clockwise-v0"))
    >>> env.reset(seed=0)[0].shape
    (39,)
    """

    def __init__(self, env: _Env) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        gymnasium.ObservationWrapper.__init__(self, env)
        inner = env.observation_space
        assert isinstance(inner, spaces.Dict)
        sizes = [int(inner[key].n) for key in ("shape", "color", "bucket")]  # type: ignore[attr-defined]  # Dict does not declare the types of its parts
        codes = inner["board"].nvec.tolist()  # type: ignore[attr-defined]  # as above
        self.observation_space = spaces.MultiDiscrete([*codes, *sizes])

    def observation(self, observation: dict[str, Any]) -> npt.NDArray[np.int64]:
        """Lay one observation out flat."""
        last = [observation["shape"], observation["color"], observation["bucket"]]
        return np.concatenate([observation["board"], last]).astype(np.int64)


class HistoryStack(
    gymnasium.Wrapper[dict[str, Any], Any, dict[str, Any], Any],
    gymnasium.utils.RecordConstructorArgs,
):
    """The observation, and the last ``k`` attempts of the episode, accepted or not.

    With ``k`` the horizon, which is the default, that is the whole history: the paper's state.

    ``observation["history"]`` has shape (k, 5), the newest attempt last: 1 + cell, 1 + bucket,
    1 + shape and 1 + colour of the piece (0 for an empty cell), and 1 if it was accepted. Rows of
    zeros precede the first attempt.

    Parameters
    ----------
    env : gymnasium.Env
        The game.
    k : int, optional
        Number of attempts, at least 1; by default ``max_episode_steps`` of the environment.

    Raises
    ------
    ValueError
        If `k` is below 1, or left out for an environment without ``max_episode_steps``.

    Examples
    --------
    >>> import gymnasium, gohr
    >>> env = HistoryStack(gymnasium.make("gohr/Clockwise-v0"), k=3)
    >>> env.reset(seed=0)[0]["history"].shape
    (3, 5)
    """

    def __init__(self, env: _Env, k: int | None = None) -> None:
        if k is None:
            k = env.spec.max_episode_steps if env.spec else None
        if k is None:
            raise ValueError("k: expected a number, or an environment with max_episode_steps")
        check_count("k", k)
        gymnasium.utils.RecordConstructorArgs.__init__(self, k=k)
        gymnasium.Wrapper.__init__(self, env)
        inner = env.observation_space
        assert isinstance(inner, spaces.Dict)
        self._n_colors = int(inner["color"].n) - 1  # type: ignore[attr-defined]  # as in LastSuccess
        highest = [N_CELLS, N_BUCKETS, int(inner["shape"].n) - 1, self._n_colors, 1]  # type: ignore[attr-defined]  # as above
        high = np.tile(np.array(highest, dtype=np.int16), (k, 1))
        history = spaces.Box(np.zeros_like(high), high, dtype=np.int16)
        self.observation_space = spaces.Dict({**inner.spaces, "history": history})
        self._history = np.zeros((k, _WIDTH), dtype=np.int16)
        self._board = np.zeros(N_CELLS, dtype=np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Begin an episode with an empty history."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._history[:] = 0
        return self._with_history(observation), info

    def step(self, action: Any) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Make an attempt, and remember it."""
        before = self._board
        # First, since it rejects invalid actions.
        observation, reward, terminated, truncated, info = self.env.step(action)
        cell, bucket = divmod(int(action), N_BUCKETS)
        shape, color = divmod(int(before[cell]) - 1, self._n_colors)
        piece = (1 + shape, 1 + color) if before[cell] else (0, 0)
        self._history[:-1] = self._history[1:]
        self._history[-1] = (1 + cell, 1 + bucket, *piece, info["outcome"] == ACCEPTED)
        return self._with_history(observation), float(reward), terminated, truncated, info

    def _with_history(self, observation: dict[str, Any]) -> dict[str, Any]:
        self._board = observation["board"]
        return {**observation, "history": self._history.copy()}
