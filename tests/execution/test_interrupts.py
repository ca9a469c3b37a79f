"""Ctrl-C is put off, and then it does what it would have done."""

from __future__ import annotations

import signal
import threading

import pytest

from gnomon.execution.interrupts import undisturbed

CTRL_C = signal.SIGINT


@pytest.fixture(autouse=True)
def _as_before():
    before = signal.getsignal(CTRL_C)
    yield
    assert signal.getsignal(CTRL_C) is before
    signal.signal(CTRL_C, before)


def test_the_block_is_done_before_the_interrupt():
    done: list[int] = []

    def work() -> None:
        with undisturbed():
            for piece in range(3):
                done.append(piece)
                signal.raise_signal(CTRL_C)
        done.append(3)

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [0, 1, 2]


def test_without_ctrl_c_nothing_happens_and_errors_pass():
    with undisturbed():
        pass

    def work() -> None:
        with undisturbed():
            raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        work()


def test_who_listens_already_hears_of_it_once_afterwards():
    heard: list[int] = []
    before = signal.signal(CTRL_C, lambda number, frame: heard.append(number))
    try:
        with undisturbed():
            signal.raise_signal(CTRL_C)
            signal.raise_signal(CTRL_C)
            assert heard == []
        assert heard == [CTRL_C]
        signal.signal(CTRL_C, signal.SIG_IGN)
        with undisturbed():
            signal.raise_signal(CTRL_C)
    finally:
        signal.signal(CTRL_C, before)


def test_another_thread_just_works():
    done: list[str] = []

    def work() -> None:
        with undisturbed():
            done.append("all of it")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == ["all of it"]
