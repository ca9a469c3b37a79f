"""Deferral of Ctrl-C (SIGINT) during critical sections, and its blocking in child processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType


@contextmanager
def undisturbed() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block; then it does what it would have done.

    Only the main thread hears of Ctrl-C; in another the block is not disturbed anyway. What Ctrl-C
    does stays as it is if something outside Python has decided that.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = False

    def hear(_signal: int, _frame: FrameType | None) -> None:
        nonlocal heard
        heard = True

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if heard:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def processes_undisturbed() -> Iterator[None]:
    """Block Ctrl-C in processes and threads started within the block, and in what they start.

    They inherit the blocked signal. A terminal sends Ctrl-C to every process of a command, and one
    alone has to decide what it means.
    """
    # Starting this helper of multiprocessing unblocks the signal, so it comes first.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
