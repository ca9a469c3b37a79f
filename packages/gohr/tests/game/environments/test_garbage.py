"""Python's search for garbage: put off while the engine loads, and no trouble afterwards."""

import gc
from collections.abc import Iterator

import pytest

from gnomon.errors import UnknownNameError
from gohr.game import HiddenRulesEnv


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@pytest.mark.parametrize("was_enabled", [True, False])
def test_garbage_is_looked_for_as_before_also_after_an_error(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    with pytest.raises(UnknownNameError):
        HiddenRulesEnv("no-such-rule")
    assert gc.isenabled() is was_enabled


def test_what_was_made_meanwhile_is_old() -> None:
    gc.enable()
    env = HiddenRulesEnv("clockwise")
    assert any(found is env.observation_space for found in gc.get_objects(generation=2))


def test_what_somebody_froze_stays_frozen() -> None:
    gc.enable()
    gc.freeze()
    n_frozen = gc.get_freeze_count()
    HiddenRulesEnv("clockwise")
    assert gc.get_freeze_count() == n_frozen > 0
    gc.unfreeze()
