"""Gymnasium's names for the game: ``gnomon/HiddenRules-v0``, and one for each sample rule."""

from __future__ import annotations

import gymnasium

__all__ = ["HORIZON", "SAMPLE_RULES", "register_environments"]

#: Attempts after which an episode is truncated (Pulick et al. 2022, section 5.2).
HORIZON = 100

#: The sample rules of Pulick et al. (2022), section 5.1, by the name of their environment.
SAMPLE_RULES = {
    "ColorMatch": "color-match",
    "Clockwise": "clockwise",
    "B23ThenB01": "b23-then-b01",
    "B3ThenB1": "b3-then-b1",
}


def register_environments() -> None:
    """Register the environments with Gymnasium; a second call changes nothing."""
    for name, rule in {"HiddenRules": "color-match", **SAMPLE_RULES}.items():
        env_id = f"gnomon/{name}-v0"
        if env_id not in gymnasium.registry:
            gymnasium.register(
                id=env_id,
                entry_point="gnomon.game.env:HiddenRulesEnv",
                vector_entry_point="gnomon.game.vector_env:HiddenRulesVectorEnv",
                max_episode_steps=HORIZON,
                kwargs={"rule": rule},
            )
