"""A word on stderr while kernels are compiled, which happens once after an installation."""

from __future__ import annotations

import sys
import time
from typing import Any

from numba.core import event

#: Seconds of compiling after which a second line is printed.
_LONG = 1.0


class _Announcer(event.Listener):
    """Announces the first kernel of this package that is compiled, and times each that takes long.

    A kernel that is loaded from the cache is not compiled, and those that a kernel calls are
    compiled within it.
    """

    def __init__(self) -> None:
        self._announced = False
        self._depth = 0
        self._began = 0.0

    def on_start(self, started: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began = time.perf_counter()
            if not self._announced and _is_ours(started):
                self._announced = True
                print(
                    "gohr: compiling the engine (once, about 10 s) ...", file=sys.stderr, flush=True
                )

    def on_end(self, ended: Any) -> None:
        self._depth -= 1
        seconds = time.perf_counter() - self._began
        if self._depth == 0 and seconds >= _LONG and _is_ours(ended):
            name = ended.data["dispatcher"].py_func.__qualname__
            print(f"gohr: compiled {name} in {seconds:.1f} s", file=sys.stderr, flush=True)


def _is_ours(compiled: Any) -> bool:
    return bool(compiled.data["dispatcher"].py_func.__module__.startswith("gohr."))


def announce_compiling() -> None:
    """Print a line when a kernel of this package is compiled from now on."""
    event.register("numba:compile", _Announcer())  # type: ignore[no-untyped-call]  # Numba has no types
