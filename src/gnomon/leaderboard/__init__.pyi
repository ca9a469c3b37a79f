from .client.remote_connection import RemoteBoard as RemoteBoard
from .client.remote_env import RemoteEnv as RemoteEnv
from .client.remote_run import RemotePlan as RemotePlan
from .client.remote_run import RemoteSummary as RemoteSummary
from .client.remote_run import play_remotely as play_remotely
from .client.submit_run import pack_run as pack_run
from .client.submit_run import submit as submit
from .client.submit_run import wait_for_verdict as wait_for_verdict
from .seasons.assignment import Assignment as Assignment
from .seasons.commitment import Reveal as Reveal
from .seasons.commitment import commit as commit
from .verification.verify_run import Verdict as Verdict
from .verification.verify_run import verify_log as verify_log
from .verification.verify_run import verify_run as verify_run

__all__ = [
    "Assignment",
    "RemoteBoard",
    "RemoteEnv",
    "RemotePlan",
    "RemoteSummary",
    "Reveal",
    "Verdict",
    "commit",
    "pack_run",
    "play_remotely",
    "submit",
    "verify_log",
    "verify_run",
    "wait_for_verdict",
]
