"""The worker as a process: ``python -m gnomon.leaderboard.submissions.worker_process NAME``.

Its settings come on standard input, where no other user sees them; when the input ends, because the
server has ended it or was killed, the worker gives back what it holds and ends too.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field

from gnomon._io.child_process import ChildProcess, end_of_input
from gnomon.database.engine import Database
from gnomon.leaderboard.settings import ServerSettings
from gnomon.leaderboard.submissions.queue import release
from gnomon.leaderboard.submissions.worker import work

__all__ = ["WorkerKeeper", "new_worker_name", "work_until_stopped"]

_log = logging.getLogger("gnomon.server")
#: Seconds between a worker that died and the next, and for a worker to end when it is told to.
_PAUSE_S, _GRACE_S = 1.0, 15.0


def new_worker_name() -> str:
    """Return a name that no other worker has."""
    return f"worker-{os.getpid()}-{os.urandom(3).hex()}"


@dataclass
class WorkerKeeper:
    """Keeps one worker process alive, as long as the server is.

    A worker that dies is replaced, and what it held is put back at once, with the reason.
    """

    database: Database
    settings: ServerSettings
    stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Start the worker, and watch it."""
        self._thread = threading.Thread(target=self._keep, name="worker-keeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the worker."""
        self.stopped.set()
        self._thread.join(30)

    def _keep(self) -> None:
        while not self.stopped.is_set():
            name = new_worker_name()
            child = ChildProcess([sys.executable, "-m", __name__, name])
            child.send(self.settings.to_json().encode() + b"\n")
            _log.info("worker %s: process %d", name, child.pid)
            while not child.how_it_ended and not self.stopped.wait(0.2):
                pass
            child.stop(_GRACE_S)
            child.close()
            if not self.stopped.is_set():
                self._put_back(name, child.how_it_ended)
                self.stopped.wait(_PAUSE_S)

    def _put_back(self, name: str, how: str) -> None:
        _log.warning("worker %s died (%s); another one takes its place", name, how)
        with suppress(Exception):  # then the lease runs out
            release(
                self.database,
                name,
                f"the worker died ({how})",
                most=self.settings.max_job_attempts,
            )


def work_until_stopped(
    database: Database, settings: ServerSettings, name: str | None = None
) -> None:
    """Work in this process until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with suppress(OSError):
        os.nice(5)  # whoever plays must not wait for a verification
    if name is not None:
        end_of_input(stopped.set)
    work(database, settings, name or new_worker_name(), stopped)


def main() -> None:
    """Be the worker of a server."""
    settings = ServerSettings.from_json(sys.stdin.readline())
    database = Database(settings.database, pool_size=2)
    try:
        work_until_stopped(database, settings, sys.argv[1])
    finally:
        database.close()


if __name__ == "__main__":
    main()
