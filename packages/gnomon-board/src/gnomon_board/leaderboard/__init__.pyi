from .client.remote_connection import RemoteBoard as RemoteBoard
from .client.remote_env import RemoteEnv as RemoteEnv
from .client.remote_run import RemotePlan as RemotePlan
from .client.remote_run import RemoteSummary as RemoteSummary
from .client.remote_run import play_remotely as play_remotely
from .client.submit_run import pack_run as pack_run
from .client.submit_run import submit as submit
from .client.submit_run import wait_for_verdict as wait_for_verdict
from .seasons.commitment import Reveal as Reveal
from .seasons.commitment import commit as commit

__all__ = [
    "RemoteBoard",
    "RemoteEnv",
    "RemotePlan",
    "RemoteSummary",
    "Reveal",
    "commit",
    "pack_run",
    "play_remotely",
    "submit",
    "wait_for_verdict",
]
