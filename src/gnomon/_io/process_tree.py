"""The process tree: a process with all that it has started, as ``/proc`` tells it.

A program that is started may start others, lead a session of its own, or lose its parent. To find
all of them, the process at the root adopts the orphans among its descendants, leads a session, and
puts a mark into the environment that its descendants inherit.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

#: The environment variable that holds the mark of the root.
MARK = "GNOMON_WORKER"
_PR_SET_CHILD_SUBREAPER = 36
#: How often a tree is looked through for what it has started meanwhile, before it is given up.
_MOST_ROUNDS = 50


def become_root(mark: str) -> None:
    """Make this process the root of a tree that can be found again, under a mark of its own."""
    os.environ[MARK] = mark
    with suppress(PermissionError):  # it leads one already
        os.setsid()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def tree_memory_mb(*roots: int) -> list[float]:
    """Return how many million bytes of memory each of some processes holds with its descendants.

    0 if it is gone. A page that several of a tree share counts once, where the system tells of it.

    Raises OSError: the system has no ``/proc``.
    """
    if not _is_told():
        raise OSError("limits of memory need a system with /proc, such as Linux")
    processes = list(_processes())
    return [_held_mb([p.pid for p in _members(root, processes)]) for root in roots]


def _held_mb(pids: Sequence[int]) -> float:
    if len(pids) < 2:
        return sum(map(_resident_bytes, pids)) / 1e6
    return sum(map(_share_bytes, pids)) / 1e6


def _resident_bytes(pid: int) -> int:
    return _number(f"/proc/{pid}/statm", b" ") * os.sysconf("SC_PAGE_SIZE")


def _share_bytes(pid: int) -> int:
    """Return the bytes of a process, each divided by how many share it.

    Takes longer, for the pages are gone through. Of a process that has just ended nothing is told:
    its resident memory, asked for after that, is none either; of another's process it is all of it.
    """
    return _number(f"/proc/{pid}/smaps_rollup", b"Pss:") * 1024 or _resident_bytes(pid)


def end_tree(root: int, mark: str) -> None:
    """Kill a child of this process and all that it has started, also where it died before them."""
    if not _is_told():
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(root, signal.SIGKILL)
        return
    # The number of a child that has been waited for may be another's by now.
    ours = any(p.pid == root and p.parent == os.getpid() for p in _processes())
    if ours:
        _kill(root, signal.SIGSTOP)  # from here on it starts nothing
    _end(root, mark)
    if ours:
        _kill(root)


def end_descendants() -> None:
    """Kill all that this process, the root of a tree, has started; costs nothing if that is none.

    Processes that have ended by themselves are let go.
    """
    if not _has_children():
        return
    root = os.getpid()
    _end(root, os.environ.get(MARK, ""))
    for process in _processes():
        if process.parent == root and process.is_dead:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


def _end(root: int, mark: str) -> None:
    """Kill what a process has started, and what that starts meanwhile."""
    for _ in range(_MOST_ROUNDS):
        found = [p.pid for p in _members(root, _processes(), mark) if p.pid != root]
        if not found:
            return
        for pid in found:
            _kill(pid)
        time.sleep(0.001)


def _has_children() -> bool:
    """Return whether this process has any child, living or dead."""
    if not _is_told():
        return False
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Process:
    """A process, its parent and its session, by their numbers, and whether it has ended."""

    pid: int
    parent: int
    session: int
    is_dead: bool


def _members(root: int, processes: Iterable[_Process], mark: str = "") -> list[_Process]:
    """Return the living processes of a tree: descendants, its session, and what bears its mark."""
    others = {p.pid: p for p in processes if not p.is_dead}
    found = [others.pop(root)] if root in others else []
    for process in list(others.values()):
        if process.session == root or (mark and _bears(process.pid, mark)):
            found.append(others.pop(process.pid))
    parents = {root, *(p.pid for p in found)}
    while children := [p for p in others.values() if p.parent in parents]:
        found += children
        parents = {p.pid for p in children}
        for child in children:
            del others[child.pid]
    return found


def _processes() -> Iterator[_Process]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            # It may end while it is looked at.
            with suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{name}/stat", "rb") as file:
                    # The name of the program, in brackets, may hold anything.
                    state, parent, _, session, *_ = file.read().rpartition(b")")[2].split()
                yield _Process(int(name), int(parent), int(session), state in (b"Z", b"X"))


def _bears(pid: int, mark: str) -> bool:
    """Return whether a process was started with the mark; of others' processes nobody is told."""
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return f"{MARK}={mark}".encode() in file.read().split(b"\0")
    return False


def _number(path: str, after: bytes) -> int:
    """Return the number after some bytes in a file of ``/proc``; 0 if nobody tells it."""
    with suppress(OSError), open(path, "rb") as file:
        return int(file.read().partition(after)[2].split()[0])
    return 0


def _kill(pid: int, how: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, how)


def _is_told() -> bool:
    """Return whether this system tells of processes in ``/proc``."""
    return os.path.exists("/proc/self/stat")
