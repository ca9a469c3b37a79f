"""Registration with Gymnasium: ``gohr/HiddenRules-v0``, and a name for each sample rule.

``import gohr`` is enough for ``gymnasium.make`` to find them, but does not load Gymnasium, which
most of the package does not need: the names are registered when Gymnasium is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

#: Attempts after which an episode is truncated (Pulick et al. 2022, section 5.2).
HORIZON = 100

#: The sample rules of Pulick et al. (2022), section 5.1, by the name of their environment.
SAMPLE_RULES = {
    "ColorMatch": "color-match",
    "Clockwise": "clockwise",
    "B23ThenB01": "b23-then-b01",
    "B3ThenB1": "b3-then-b1",
}

#: The module of Gymnasium that keeps the names.
REGISTRY = "gymnasium.envs.registration"


def register_environments() -> None:
    """Register the environments with Gymnasium, now or as soon as it is imported.

    A second call changes nothing.
    """
    if REGISTRY in sys.modules:
        _register_with(sys.modules[REGISTRY])
    elif not any(isinstance(finder, _RegistryFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _RegistryFinder())


def _register_with(registry: ModuleType) -> None:
    for name, rule in {"HiddenRules": "color-match", **SAMPLE_RULES}.items():
        env_id = f"gohr/{name}-v0"
        if env_id not in registry.registry:
            registry.register(
                id=env_id,
                entry_point="gohr:HiddenRulesEnv",
                vector_entry_point="gohr:HiddenRulesVectorEnv",
                order_enforce=False,  # the environment refuses a step before the first reset
                max_episode_steps=HORIZON,
                kwargs={"rule": rule},
            )


class _RegistryFinder:
    """Finds Gymnasium's registry, and registers the environments there, once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != REGISTRY:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                _register_with(module)

            # The loader is of this module alone, so no other import changes. mypy lets no method be
            # assigned, but importlib looks it up on the object.
            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]
        return spec
