"""Settings of a leaderboard server: data folder, database, hosts, limits.

The database's address, which may hold a password, is never shown.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field, fields
from pathlib import Path

from pydantic import TypeAdapter

from gnomon_board.errors import LeaderboardError

MIB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Settings of a leaderboard server.

    Parameters
    ----------
    data : Path
        Folder of all data of the server: the SQLite file and the evidence. It is never served.
    database_url : str, optional
        An address in SQLAlchemy's form; ``""`` for a SQLite file in ``data``.
    allowed_hosts : tuple of str
        Accepted names in the ``Host`` header; ``*.example.org`` takes subdomains.
    public_url : str
        Public address of the server, without a final slash; ``""`` if it is local only.
    secure_cookies : bool
        Whether the session cookie is for HTTPS only; set it behind an HTTPS proxy.
    trusted_proxies : tuple of str
        Addresses whose ``X-Forwarded-For`` is trusted, for rate limits.
    max_body_bytes, max_upload_bytes : int
        Most bytes of an ordinary request, and of a log, which its season limits too.
    verify_timeout_s, verify_memory_mb : float, int
        Limits of the process that reads and verifies one log; most seasons permit less.
    lease_s, heartbeat_s : float
        A job whose worker sent no heartbeat for ``lease_s`` goes to another one.
    max_job_attempts : int
        Number of tries before a job is an error.
    requests_per_minute, writes_per_minute : int
        Requests per address; registrations and other creations per account.
    sign_ins_per_minute, submissions_per_hour : int
        Sign-ins per address, failed or not; submissions per account.
    max_play_sessions_per_hour : int
        New play sessions per address.
    connections_per_address : int
        Open at once; a trusted proxy must limit its own connections.
    min_free_mib : int
        With fewer free mebibytes on its disk the server is unhealthy and accepts no logs.
    slow_client_s : float
        A connection is closed if the head of a request takes about this time, and refused if it
        sends nothing for this time within a body.
    """

    data: Path
    database_url: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    public_url: str = ""
    secure_cookies: bool = False
    trusted_proxies: tuple[str, ...] = ()
    max_body_bytes: int = MIB
    max_upload_bytes: int = 256 * MIB
    verify_timeout_s: float = 600.0
    verify_memory_mb: int = 4096
    lease_s: float = 60.0
    heartbeat_s: float = 10.0
    max_job_attempts: int = 3
    requests_per_minute: int = 6000
    writes_per_minute: int = 120
    sign_ins_per_minute: int = 10
    submissions_per_hour: int = 60
    max_play_sessions_per_hour: int = 120
    connections_per_address: int = 100
    min_free_mib: int = 256
    slow_client_s: float = 20.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, int | float) and not isinstance(value, bool) and value <= 0:
                raise LeaderboardError(
                    f"setting {each.name!r}: expected more than 0, found {value}"
                )
        if self.heartbeat_s >= self.lease_s:
            raise LeaderboardError("setting 'heartbeat_s': expected less than 'lease_s'")

    def to_json(self) -> str:
        """Return all settings for a subprocess, including the database's address."""
        return TypeAdapter(Settings).dump_json(self).decode()

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Return the settings from :meth:`to_json`."""
        return TypeAdapter(cls).validate_json(text)

    @property
    def database(self) -> str:
        """The database's address, in full."""
        return self.database_url or f"sqlite:///{self.data / 'leaderboard.sqlite'}"

    @property
    def evidence(self) -> Path:
        """The folder of uploaded logs, each named by the SHA-256 of its bytes."""
        return self.data / "evidence"

    def free_bytes(self) -> int:
        """Return the free bytes of the disk of the data folder."""
        return shutil.disk_usage(self.data).free

    @property
    def incoming(self) -> Path:
        """The folder of incomplete uploads."""
        return self.data / "incoming"
