"""The verification worker and its supervisor: each job runs in a limited process.

The worker keeps no state of its own. If it is killed, its job goes to the next worker when the
lease expires; the result of a job is written in the transaction that ends the job, once.

``python -m gnomon_board.worker NAME`` is the worker of a server. Its settings come on
standard input, which no other user can read. When the input ends, because the server stops or was
killed, the worker returns its job to the queue and ends too.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from gnomon.errors import visible
from gnomon_board import jobs
from gnomon_board.database import Database, find_row
from gnomon_board.evidence import damage, mark_damaged, verification_request
from gnomon_board.hidden import close_unfinished, queue_played
from gnomon_board.schema import Submission, VerifiedTrial
from gnomon_board.settings import Settings
from gnomon_board.submissions import set_state
from gohr.child_process import (
    LimitedChild,
    ProcessFailure,
    end_group,
    end_of_input,
    how_it_ended,
    run_limited,
)

_log = logging.getLogger("gnomon.worker")
#: Log of the supervisor, which is part of the server.
_server_log = logging.getLogger("gnomon.server")
#: Seconds between two checks of an empty queue, and between two sweeps.
_PAUSE_S = 0.5
_VERIFIER = "gnomon_board.verification"
_SWEEP_S = 5.0


def work(database: Database, settings: Settings, owner: str, stopped: threading.Event) -> None:
    """Verify submissions from the queue until stopped.

    ``owner`` is the unique name of the worker. When ``stopped`` is set, a running job returns to
    the queue.
    """
    swept, starting, spare = 0.0, True, SpareChild()
    while not stopped.is_set():
        try:
            if time.monotonic() - swept > _SWEEP_S:
                # First, since an error below must not keep the worker from the queue.
                swept = time.monotonic()
                jobs.see(database, anew=starting)
                starting = False
                jobs.sweep(database, settings)
                close_unfinished(database)
                queue_played(database, settings)
            spare.renew()
            busy = work_on_one(database, settings, owner, stopped, spare)
        except Exception:
            # For example, the database does not answer for a while.
            _log.exception("the worker goes on after an error")
            busy = False
        if not busy:
            stopped.wait(_PAUSE_S)
    spare.stop()


class SpareChild:
    """A process that waits for a log, with the engine's kernels loaded, which takes seconds."""

    def __init__(self) -> None:
        self._child: LimitedChild | None = None

    def renew(self) -> None:
        """Start the process if there is none."""
        if self._child is not None and self._child.how_it_ended:
            self.stop()
        self._child = self._child or LimitedChild(_VERIFIER)

    def take(self) -> LimitedChild | None:
        """Return the process, which answers one request."""
        child, self._child = self._child, None
        return child

    def stop(self) -> None:
        """End the process."""
        if (child := self.take()) is not None:
            child.end()


def work_on_one(
    database: Database,
    settings: Settings,
    owner: str,
    stopped: threading.Event | None = None,
    spare: SpareChild | None = None,
) -> bool:
    """Verify the submission that has waited longest; return False if none waits."""
    held = jobs.claim(database, owner, lease_s=settings.lease_s)
    if held is None:
        return False
    began = time.monotonic()
    most = settings.max_job_attempts

    def tick() -> None:
        nonlocal most
        jobs.heartbeat(database, held, lease_s=settings.lease_s)
        if stopped is not None and stopped.is_set():
            most = held.n_tries + 1  # the submission did not cause this
            raise ProcessFailure("the worker was stopped")

    try:
        with database.reading() as session:
            submission = find_row(session, Submission, held.submission_id)
            request = verification_request(submission, settings)
        answer = run_limited(
            _VERIFIER,
            request,
            timeout_s=request["timeout_s"],
            memory_mb=request["memory_mb"],
            tick=tick,
            tick_s=settings.heartbeat_s,
            child=spare.take() if spare else None,
        )
        with database.writing() as session:
            submission = jobs.held_submission(session, held)
            _write_verdict(session, submission, answer, time.monotonic() - began)
    except jobs.LeaseLostError:
        _log.warning("submission %d is no longer held by this worker", held.submission_id)
    except ProcessFailure as failure:
        jobs.give_back(database, held, str(failure), most=most)
    except Exception as error:
        _log.exception("submission %d", held.submission_id)
        reason = f"the server failed: {type(error).__name__}"
        jobs.give_back(database, held, reason, most=most)
    return True


def _write_verdict(
    session: Session, submission: Submission, answer: dict[str, Any], seconds: float
) -> None:
    """Write the verdict and the scores."""
    mark_damaged(submission, damaged="damaged" in answer)
    if "damaged" in answer:
        reason = f"{damage(submission)}: not a fault of the participant; the operator is informed"
        set_state(session, submission, "error", reason)
        return
    for old in list(submission.trials):  # of an earlier verification
        session.delete(old)
    session.flush()
    if "refused" in answer:
        set_state(session, submission, "refused", visible(str(answer["refused"]), kept="")[:500])
        return
    trials = answer["trials"]
    rules = {rule.name: rule.id for rule in submission.season.rules}
    session.add_all(
        VerifiedTrial(
            submission_id=submission.id,
            rule_id=rules[trial["rule"]],
            **{name: value for name, value in trial.items() if name != "rule"},
        )
        for trial in trials
    )
    submission.n_attempts = sum(trial["n_attempts"] for trial in trials)
    reason = f"{submission.n_attempts} attempts replayed in {seconds:.1f} s"
    set_state(session, submission, "verified", reason)


#: Seconds before a worker that died is replaced, and for a worker to end when it is stopped.
_REPLACE_S, _GRACE_S = 1.0, 15.0


def new_worker_name() -> str:
    """Return a name that no other worker has."""
    return f"worker-{os.getpid()}-{os.urandom(3).hex()}"


@dataclass
class WorkerSupervisor:
    """Supervisor of one worker process, for as long as the server runs.

    A worker that dies is replaced, and its job returns to the queue at once, with the reason.
    """

    database: Database
    settings: Settings
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
            words = [sys.executable, "-m", __name__, name]
            child = subprocess.Popen(words, stdin=subprocess.PIPE, start_new_session=True)
            assert child.stdin is not None
            with suppress(BrokenPipeError):
                child.stdin.write(self.settings.to_json().encode() + b"\n")
                child.stdin.flush()
            _server_log.info("worker %s: process %d", name, child.pid)
            while child.poll() is None and not self.stopped.wait(0.2):
                pass
            end_group(child, _GRACE_S)
            if self.stopped.is_set():
                return
            how = how_it_ended(child)
            _server_log.warning("worker %s died (%s); another one takes its place", name, how)
            most = self.settings.max_job_attempts
            with suppress(Exception):  # then the lease expires
                jobs.release(self.database, name, f"the worker died ({how})", most=most)
            self.stopped.wait(_REPLACE_S)


def work_until_stopped(database: Database, settings: Settings, name: str | None = None) -> None:
    """Work in this process until SIGTERM or SIGINT."""
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with suppress(OSError):
        os.nice(5)  # a verification must not delay players
    if name is not None:
        end_of_input(stopped.set)
    work(database, settings, name or new_worker_name(), stopped)


def main() -> None:
    """Run as the worker process of a server."""
    settings = Settings.from_json(sys.stdin.readline())
    database = Database(settings.database, pool_size=2)
    try:
        work_until_stopped(database, settings, sys.argv[1])
    finally:
        database.close()


if __name__ == "__main__":
    main()
