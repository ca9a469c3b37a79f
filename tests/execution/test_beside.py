"""The thread beside: everything handed over is done, in order, whatever ends the block."""

from __future__ import annotations

import threading
import time

import pytest

from gnomon.execution.beside import beside


def test_all_is_done_in_order_and_in_another_thread():
    done: list[tuple[int, str]] = []
    with beside(lambda piece: done.append((piece, threading.current_thread().name))) as hand_over:
        for piece in range(100):
            hand_over(piece)
    assert done == [(piece, "beside") for piece in range(100)]


def test_who_hands_over_much_waits():
    gate, done = threading.Event(), []

    def work(piece: int) -> None:
        gate.wait(10)
        done.append(piece)

    def open_later() -> None:
        time.sleep(0.1)
        gate.set()

    with beside(work) as hand_over:
        threading.Thread(target=open_later).start()
        for piece in range(50):
            hand_over(piece)
            assert piece - len(done) <= 1
        assert gate.is_set()
    assert done == list(range(50))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, GeneratorExit, ValueError])
def test_what_was_handed_over_is_done_though_the_block_ends_early(stop):
    done: list[int] = []

    def slowly(piece: int) -> None:
        time.sleep(0.01)
        done.append(piece)

    def stopped_early() -> None:
        with beside(slowly) as hand_over:
            for piece in range(5):
                hand_over(piece)
            raise stop

    with pytest.raises(stop):
        stopped_early()
    assert done == list(range(5))


def test_an_error_of_the_work_stops_the_rest_and_is_told():
    done: list[int] = []

    def work(piece: int) -> None:
        if piece == 3:
            raise RuntimeError("no room")
        done.append(piece)

    def hand_over_many() -> None:
        with beside(work) as hand_over:
            for piece in range(1000):
                hand_over(piece)

    with pytest.raises(RuntimeError, match="no room"):
        hand_over_many()
    assert done == [0, 1, 2]
    with pytest.raises(RuntimeError, match="no room"), beside(work) as hand_over:
        hand_over(3)


def test_nothing_remains_of_the_thread():
    with beside(print):
        assert "beside" in [thread.name for thread in threading.enumerate()]
    assert "beside" not in [thread.name for thread in threading.enumerate()]
