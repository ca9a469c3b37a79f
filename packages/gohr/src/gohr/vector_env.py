"""The game as a Gymnasium vector environment: all boards in one call of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from gnomon.errors import check_count
from gohr.board import N_CELLS, board_spec, draw_boards
from gohr.drawing import board_pixels, board_text
from gohr.engine.program import OUTCOME, SHAPE, Replies
from gohr.env import BoardLike, action_space, observation_space
from gohr.outcomes import LEAVE, NEW_BOARD, RESET, Autoreset
from gohr.rules.catalogue import resolve_rule
from gohr.rules.syntax import RuleSet

#: Boards drawn at a time, in multiples of the number of boards in play.
_BLOCKS = 2


class _Told(NamedTuple):
    """Results of a step, and what the environment returns of them."""

    reward: npt.NDArray[np.float64]
    ends: npt.NDArray[np.bool_]
    observations: dict[str, npt.NDArray[Any]]
    infos: dict[str, npt.NDArray[Any]]

    @classmethod
    def of(
        cls,
        seen: npt.NDArray[np.uint8],
        told: Replies,
        reward: npt.NDArray[np.float64],
        ends: npt.NDArray[np.bool_],
    ) -> _Told:
        """Name the parts of the arrays."""
        shape, color, bucket, outcome = told
        codes, mask = seen[:, :N_CELLS], seen[:, N_CELLS:].view(np.int8)
        observations = {"board": codes, "shape": shape, "color": color, "bucket": bucket}
        infos = {"action_mask": mask, "outcome": outcome, "stalemate": ends[2]}
        return cls(reward, ends, observations, infos)


class FinalObservations:
    """The last observation of each board whose episode ended, None for the other boards.

    Used as the array of objects in which Gymnasium has them; it is filled when it is first read.
    """

    def __init__(self, final: npt.NDArray[np.uint8], ended: npt.NDArray[np.bool_]) -> None:
        self._final, self._ended = final, ended

    @cached_property
    def _observations(self) -> npt.NDArray[np.object_]:
        observations = np.full(len(self), None, dtype=object)
        for i in self._ended.nonzero()[0].tolist():
            shape, color, bucket = self._final[i, N_CELLS:].tolist()
            board = self._final[i, :N_CELLS]
            observations[i] = {"board": board, "shape": shape, "color": color, "bucket": bucket}
        return observations

    def __len__(self) -> int:
        return len(self._ended)

    def __iter__(self) -> Iterator[dict[str, Any] | None]:
        return iter(self._observations)

    def __getitem__(self, index: Any) -> Any:
        return self._observations[index]

    def __setitem__(self, index: Any, observation: Any) -> None:
        self._observations[index] = observation

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[np.object_]:
        return self._observations.copy() if copy else self._observations


class HiddenRulesVectorEnv(
    gymnasium.vector.VectorEnv[dict[str, Any], npt.NDArray[np.int64], npt.NDArray[Any]]
):
    """Many boards under one hidden rule, stepped together.

    Observations, actions and rewards are as in :class:`~gohr.HiddenRulesEnv`, stacked over the
    boards; ``gymnasium.make_vec("gohr/HiddenRules-v0", num_envs=...)`` gives this class. All boards
    come from one sequence, in the order in which they are needed; a vector of one board plays the
    boards of the single environment with the same seed.

    Parameters
    ----------
    num_envs : int
        Number of boards in play.
    rule, board, reveal
        As in :class:`~gohr.HiddenRulesEnv`.
    max_episode_steps : int, optional
        Number of attempts after which an episode is truncated; None for no limit.
    autoreset_mode : AutoresetMode or str
        Handling of a board whose episode has ended. ``NextStep``: the next step deals a new board
        whatever the action, with reward 0 and outcome 6, which is no attempt. ``SameStep``: the
        same step does, and ``info["final_obs"]`` and ``info["final_info"]`` hold the last
        observation and info. ``Disabled``: nothing; ``reset(options={"reset_mask": mask})`` deals
        new boards.
    copy : bool
        Return copies, so that earlier results stay unchanged; boards and masks of one step are two
        views of one copy. False returns the environment's own arrays, rewards and ends among them,
        which the next step overwrites: about 1.6 times as fast for a thousand boards.

    Examples
    --------
    >>> import gymnasium, gohr
    >>> envs = gymnasium.make_vec("gohr/Clockwise-v0", num_envs=3)
    >>> observations, infos = envs.reset(seed=0)
    >>> observations["board"].shape, infos["action_mask"].shape
    ((3, 36), (3, 144))
    """

    def __init__(
        self,
        num_envs: int = 1,
        rule: str | RuleSet = "color-match",
        board: BoardLike = None,
        *,
        reveal: bool = False,
        max_episode_steps: int | None = 100,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        copy: bool = True,
    ) -> None:
        from gohr.engine.boards import Boards, compiled_for
        from gohr.engine.transition import step_all, tell_final

        check_count("num_envs", num_envs)
        self.num_envs = num_envs
        self.board_spec = board_spec(board)
        self.rule = resolve_rule(rule)
        self.reveal = reveal
        self.copy = copy
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {
            "render_modes": ["ansi", "rgb_array"],
            "render_fps": 4,
            "autoreset_mode": self.autoreset_mode,
            "reveal": reveal,
        }
        self.single_observation_space = observation_space(self.board_spec)
        self.single_action_space = action_space()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

        self._boards = boards = Boards.empty(self.rule, num_envs, self.board_spec)
        self._tell_final = tell_final
        self._all = np.ones(num_envs, dtype=np.bool_)
        self._replies = boards.replies[SHAPE : OUTCOME + 1]
        self._told = _Told.of(boards.seen, self._replies, *self._new_ends())
        self._final_room = self._new_final_room()
        self._forget_deck()
        arrays = boards.rule.program, boards.state, boards.seen, boards.padded
        mode = getattr(Autoreset, self.autoreset_mode.name)
        fixed = (*arrays, max_episode_steps or 0, mode)
        nothing = np.full(num_envs, LEAVE)
        others = self._deck, 0, nothing, LEAVE, self._told.reward, self._told.ends
        self._step_all = partial(compiled_for(step_all, *fixed, *others), *fixed)

    def _forget_deck(self) -> None:
        self._deck = np.empty((0, N_CELLS), dtype=np.uint8)
        self._n_dealt = 0

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Deal new boards: to all, or to those of ``options["reset_mask"]``.

        Parameters
        ----------
        seed : int, optional
            Restart the sequence of boards from this seed.
        options : dict, optional
            ``{"reset_mask": mask}``, bool of shape (num_envs,), for the boards to replace.
        """
        if isinstance(seed, list):
            raise ValueError("seed: expected one integer for all boards, found a list")
        unknown = sorted(set(options or {}) - {"reset_mask"})
        if unknown:
            raise ValueError(f"options: expected 'reset_mask', found {unknown[0]!r}")
        super().reset(seed=seed)
        if seed is not None:
            self._forget_deck()
        actions = np.full(self.num_envs, RESET, dtype=np.int64)
        if options and options.get("reset_mask") is not None:
            mask = np.asarray(options["reset_mask"])
            if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
                raise ValueError(
                    f"reset_mask: expected bool of shape ({self.num_envs},), one at least True, "
                    f"found {mask.dtype} of shape {mask.shape}"
                )
            actions[~mask] = LEAVE
        told, infos = self._make(actions, LEAVE, actions == RESET)
        return told.observations.copy(), infos

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[
        dict[str, Any],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Make one attempt on each board; ``actions`` has shape (num_envs,)."""
        actions = np.ascontiguousarray(actions, dtype=np.int64)
        if actions.shape != (self.num_envs,):
            raise ValueError(f"actions: expected shape ({self.num_envs},), found {actions.shape}")
        if not len(self._deck):
            raise ResetNeeded("Cannot call env.step() before calling env.reset()")
        told, infos = self._make(actions, 0, self._all)
        return told.observations.copy(), told.reward, told.ends[0], told.ends[1], infos

    def _make(
        self, actions: npt.NDArray[np.int64], least: int, present: npt.NDArray[np.bool_]
    ) -> tuple[_Told, dict[str, Any]]:
        """Make actions from `least` on; return the results, and the infos of the boards present."""
        # The deck is long enough for each board to need a new one.
        if len(self._deck) - self._n_dealt < self.num_envs:
            left = self._deck[self._n_dealt :]
            fresh = draw_boards(_BLOCKS * self.num_envs, self.board_spec, rng=self.np_random)
            self._deck = np.concatenate([left, fresh])
            self._n_dealt = 0
        told = self._told
        reward, ends = self._new_ends() if self.copy else (told.reward, told.ends)
        self._n_dealt, n_ended = self._step_all(
            self._deck, self._n_dealt, actions, least, reward, ends
        )
        if n_ended < 0:
            raise ValueError(f"actions: expected integers from 0 to 143, found {actions}")
        if self.copy:
            told = _Told.of(self._boards.seen.copy(), self._replies.copy(), reward, ends)
        infos: dict[str, Any] = {
            **told.infos,
            "_action_mask": present,
            "_outcome": present,
            "_stalemate": present,
        }
        if self.reveal:
            infos["permitted"] = self._boards.permitted()
            infos["_permitted"] = present
        if n_ended and self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._add_final(infos, told)
        return told, infos

    def _new_ends(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Allocate rewards, and terminated, truncated and stalemate."""
        return np.empty(self.num_envs), np.empty((3, self.num_envs), dtype=np.bool_)

    def _new_final_room(self) -> tuple[npt.NDArray[Any], ...]:
        """Allocate final observations and masks, and which boards ended and were stuck."""
        n = self.num_envs
        return (
            np.empty((n, N_CELLS + 3), dtype=np.uint8),
            np.zeros((n, N_CELLS), dtype=np.int32),
            np.zeros((2, n), dtype=np.bool_),
        )

    def _add_final(self, infos: dict[str, Any], told: _Told) -> None:
        """Add the final results of the episodes that ended in this step, in Gymnasium's layout."""
        final, mask, final_ends = self._new_final_room() if self.copy else self._final_room
        self._tell_final(self._boards.final, told.ends, final, mask, final_ends)
        ended, stalemate = final_ends
        infos["final_obs"] = FinalObservations(final, ended)
        infos["final_info"] = {
            "action_mask": mask.view(np.int8),
            "_action_mask": ended,
            "outcome": infos["outcome"],
            "_outcome": ended,
            "stalemate": stalemate,
            "_stalemate": ended,
        }
        infos["_final_obs"] = infos["_final_info"] = ended
        # The values next to it belong to the boards dealt since.
        infos["outcome"] = np.where(ended, np.int32(NEW_BOARD), infos["outcome"])

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which attempts are on occupied cells, bool of shape (num_envs, 144)."""
        return self._boards.occupied.astype(np.bool_)

    def render(self) -> tuple[Any, ...] | None:
        """Return a picture or a text of each board."""
        if self.render_mode is None:
            return None
        draw = board_text if self.render_mode == "ansi" else board_pixels
        return tuple(draw(codes, self.board_spec) for codes in self._boards.codes)
