"""Python's search for garbage: put off, and no trouble afterwards."""

import gc
from collections.abc import Iterator

import pytest

from gohr.game.environments.env import collection_paused


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    was_enabled = gc.isenabled()
    yield
    (gc.enable if was_enabled else gc.disable)()


@collection_paused()
def fail_in_it() -> None:
    assert not gc.isenabled()
    raise ValueError("an error")


@pytest.mark.parametrize("was_enabled", [True, False])
def test_garbage_is_looked_for_as_before_also_after_an_error(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    with pytest.raises(ValueError, match="an error"):
        fail_in_it()
    assert gc.isenabled() is was_enabled


def test_what_was_made_meanwhile_is_old_and_still_collected_when_dead() -> None:
    gc.enable()
    with collection_paused():
        circle: list[object] = []
        circle.append(circle)
    assert any(found is circle for found in gc.get_objects(generation=2))
    del circle
    assert gc.collect() >= 1


def test_what_somebody_froze_stays_frozen() -> None:
    gc.enable()
    gc.freeze()
    n_frozen = gc.get_freeze_count()
    with collection_paused():
        pass
    assert gc.get_freeze_count() == n_frozen > 0
    gc.unfreeze()
