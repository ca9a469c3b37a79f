"""The lock of a run folder: one process writes, others may read.

The system lets go of a lock when the process dies, however it does.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gnomon.errors import RunFolderError

OTHER_RUN = "another run is writing here"


@contextmanager
def beginning(path: Path) -> Iterator[None]:
    """Hold a folder, which may be new, while a run begins in it."""
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY)
    try:
        lock(handle, path)
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):  # It is not empty: somebody else uses it.
                path.rmdir()
        raise
    finally:
        os.close(handle)


def lock(handle: int, path: Path) -> None:
    """Take a lock; somebody who only asks for its status has it for a moment.

    The system lets go of it when the process dies, however it does.
    """
    for _ in range(10):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return
    raise RunFolderError(f"{path}: {OTHER_RUN}")


def is_held(path: Path) -> bool:
    """Return whether a process has the lock of a file or folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
