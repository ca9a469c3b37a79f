"""The captive game server over a pipe: one client that waits for each answer."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from benchmarks.record import Measurement

_RULES = ("color-match", "clockwise")
_TARGETS = {"BRIEF": 25_000, "STANDARD": 12_000}
_N_PIECES = 9
_SECONDS = 1.5
_REPEATS = 5


def measure() -> Iterator[Measurement]:
    """Measure a random player on boards of nine pieces, episode starts included.

    The reference does 7,400 to 13,000 attempts a second in BRIEF and 2,600 to 3,700 in STANDARD.

    Client and server go where the system puts them. On two cores each answer waits for the client's
    core to wake, which on a virtual machine takes longer than the game, and not always as long.
    """
    for mode, target in _TARGETS.items():
        for rule in _RULES:
            speeds = [attempts_per_second(rule, mode, _SECONDS) for _ in range(_REPEATS)]
            note = f"median of {_REPEATS} x {_SECONDS:g} s, from {min(speeds):,.0f} to "
            note += f"{max(speeds):,.0f}"
            if mode == "STANDARD":
                note += "; the client parses each board"
            yield Measurement(
                f"captive {mode}, {rule}", median(speeds), "attempts/s", target, note=note
            )


def attempts_per_second(rule: str, mode: str, seconds: float) -> float:
    """Play at random for a while; in STANDARD the client parses the board each time."""
    command = [sys.executable, "-m", "gohr", "captive"]
    arguments = [rule, str(_N_PIECES), "4", "4", "seed=1", f"output={mode}"]
    with subprocess.Popen(
        [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        n_attempts = _play(server, mode == "STANDARD", seconds)
        server.stdin.write(b"EXIT\n")
        server.stdin.close()
    return n_attempts


def _play(server: subprocess.Popen[bytes], has_boards: bool, seconds: float) -> float:
    """Play, and return the attempts per second from the first board on, new episodes included."""
    out, into = server.stdout.fileno(), server.stdin.fileno()
    n_lines = 3 if has_boards else 2
    rng = random.Random(0)

    def ask(line: bytes, n: int) -> list[bytes]:
        os.write(into, line)
        return answer(n)

    def answer(n: int) -> list[bytes]:
        said = b""
        while said.count(b"\n") < n:
            received = os.read(out, 65536)
            if not received:
                raise EOFError("the server has ended")
            said += received
        return said.split(b"\n")

    moves = [[f"MOVE {i} {b}\n".encode() for b in range(4)] for i in range(_N_PIECES)]
    left = list(moves)
    answer(3)
    n_attempts = 0
    begin = now = time.perf_counter()
    while now - begin < seconds:
        i = rng.randrange(len(left))
        said = ask(left[i][rng.randrange(4)], n_lines)
        n_attempts += 1
        if has_boards:
            json.loads(said[2])
        if said[0][:2] == b"0 ":
            del left[i]
            if said[0][2:3] != b"0":
                ask(b"NEW\n", 3)
                left = list(moves)
        now = time.perf_counter()
    return n_attempts / (now - begin)
