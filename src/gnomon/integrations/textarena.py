"""The game in TextArena: ``ta.make("GnomonHiddenRules-v0")`` once this module is imported.

⚠ The state of TextArena seeds Python's global ``random`` whenever a game is reset. The boards come
from a generator of their own, as those of Gymnasium's environment of the same seed.
"""

from __future__ import annotations

from typing import Any

import textarena as ta
from textarena.envs.registration import ENV_REGISTRY, register_with_versions
from textarena.wrappers import ActionFormattingWrapper, LLMObservationWrapper

from gnomon.integrations.trial_in_words import conversation
from gnomon.rules.catalogue import resolve_rule

ENV_ID = "GnomonHiddenRules-v0"


class HiddenRulesEnv(ta.Env):
    """Clear boards under a rule that is not shown; an answer has ``[MOVE column row bucket]``.

    A denied move is a legal one. The reward at the end is the share of the attempts that were
    accepted, 1 without an error.

    Parameters
    ----------
    rule : str
        A name of the catalogue, or a rule file.
    boards, horizon : int
        How many boards, and most attempts on each.
    error_allowance : int
        Answers in a row without a move that are asked for again.
    """

    def __init__(
        self,
        rule: str = "color-match",
        boards: int = 1,
        horizon: int = 100,
        error_allowance: int = 3,
    ) -> None:
        self._rule, self._boards, self._horizon = resolve_rule(rule), boards, horizon
        self._error_allowance = error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal the first board."""
        self.game = conversation(self._rule, boards=self._boards, horizon=self._horizon, seed=seed)
        self.state = ta.SinglePlayerState(num_players, seed, error_allowance=self._error_allowance)
        self.state.reset(game_state={}, player_prompt_function=self._prompt)
        self._show_board()

    def _prompt(self, player_id: int, game_state: dict[str, Any]) -> str:
        return f"{self.game.turns()[0].text}\nPut brackets round it: [MOVE column row bucket]"

    def _show_board(self) -> None:
        text = self.game.turns()[-1].text
        self.state.add_observation(message=text, observation_type=ta.ObservationType.GAME_BOARD)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Make the attempt of an answer."""
        player = self.state.current_player_id
        what = ta.ObservationType.PLAYER_ACTION
        self.state.add_observation(message=action, observation_type=what, from_id=player)
        if self.game.take(action) is None:
            reason = "No move of a piece on the board could be read."
            self.state.set_invalid_move(reward=0.0, reason=reason)
        elif self.game.over:
            made = f"{self.game.n_attempts} attempts, {self.game.n_errors} of them errors"
            self.state.set_outcome(self.game.reward(), f"All boards are over: {made}.")
        else:
            self._show_board()
        return self.state.step()


if ENV_ID not in ENV_REGISTRY:
    register_with_versions(
        id=ENV_ID,
        entry_point=HiddenRulesEnv,
        wrappers={
            "default": [LLMObservationWrapper],
            "-train": [LLMObservationWrapper, ActionFormattingWrapper],
        },
    )
