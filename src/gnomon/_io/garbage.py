"""Python's search for garbage, put off while there is none to find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collection_paused"]


@contextmanager
def collection_paused() -> Iterator[None]:
    """Keep Python from looking for cycles of dead objects, then let it do as it did before.

    Modules that load, and compiled kernels that are unpickled, make a hundred thousand objects
    that all stay. To look through them again and again takes an eighth of the time of loading
    Numba. At the end all objects count as old, or the next search would begin with every one of
    them. It may stand before a function, too.

    Examples
    --------
    >>> import gc
    >>> with collection_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _let_all_be_old()
            gc.enable()


def _let_all_be_old() -> None:
    """Move all objects to the oldest generation, which is searched last and least."""
    if gc.get_freeze_count() == 0:  # else somebody froze objects, and they stay frozen
        gc.freeze()
        gc.unfreeze()
