"""Settings of a leaderboard server: data folder, database, hosts, limits.

Secret are the database's address, which may hold a password, and the secret of the sign-in
provider; neither is shown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path

from gnomon_board.errors import LeaderboardError

MIB = 1 << 20


@dataclass(frozen=True)
class Settings:
    """Settings of a leaderboard server.

    Parameters
    ----------
    data : Path
        The folder of everything that the server keeps: the SQLite file, and the evidence. It is
        never served.
    database_url : str, optional
        An address as SQLAlchemy writes it; ``""`` is one SQLite file in ``data``.
    allowed_hosts : tuple of str
        Names in the ``Host`` header that are answered; ``*.example.org`` takes subdomains.
    public_url : str
        How the world sees the server, without a final slash; ``""`` if only this machine does.
    secure_cookies : bool
        Whether the session cookie is for HTTPS only; to be set behind a proxy that speaks it.
    trusted_proxies : tuple of str
        Addresses whose ``X-Forwarded-For`` is believed, for rate limits.
    max_body_bytes, max_manifest_bytes, max_upload_bytes : int
        Most bytes of an ordinary request, of a manifest, and of a log, which its season limits too.
    verify_timeout_s, verify_memory_mb : float, int
        What reading and verifying one log may take at most, in a process of its own; most seasons
        permit less.
    lease_s, heartbeat_s : float
        A job whose worker has said nothing for ``lease_s`` goes to another one.
    max_job_attempts : int
        How often a job is begun before it is an error.
    session_hours : float
        How long a browser stays signed in.
    requests_per_minute, writes_per_minute : int
        Of one address, and of what one account registers or makes.
    sign_ins_per_minute, submissions_per_hour : int
        Failed or not, of one address; of one account.
    max_play_sessions_per_hour : int
        New play sessions of one address.
    connections_per_address : int
        Open at once; those of a trusted proxy are for the proxy to limit.
    answers_at_once : int
        Requests of one address that are answered at once; its others wait their turn.
    uploads_at_once, websockets_at_once : int
        Of one address, and of websockets of one account; an account sends one log at a time.
    upload_mib_per_hour : int
        Mebibytes of logs that one account, and one address, may send, each log at least one.
    idle_websocket_s : float
        A websocket over which nobody has moved for so long is closed.
    min_free_mib : int
        Below so many free mebibytes of its disk the server is not healthy, and takes no logs.
    slow_client_s : float
        A connection that takes about so long for the head of a request is closed, and one that says
        nothing for so long within a body is refused.
    """

    data: Path
    database_url: str = field(default="", repr=False)
    allowed_hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    public_url: str = ""
    secure_cookies: bool = False
    trusted_proxies: tuple[str, ...] = ()
    max_body_bytes: int = MIB
    max_manifest_bytes: int = 4 * MIB
    max_upload_bytes: int = 256 * MIB
    verify_timeout_s: float = 600.0
    verify_memory_mb: int = 4096
    lease_s: float = 60.0
    heartbeat_s: float = 10.0
    max_job_attempts: int = 3
    session_hours: float = 12.0
    requests_per_minute: int = 6000
    writes_per_minute: int = 120
    sign_ins_per_minute: int = 10
    submissions_per_hour: int = 60
    max_play_sessions_per_hour: int = 120
    connections_per_address: int = 100
    answers_at_once: int = 4
    uploads_at_once: int = 8
    websockets_at_once: int = 32
    upload_mib_per_hour: int = 8192
    idle_websocket_s: float = 900.0
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
        """Return everything, the database's address included: for a process of our own."""
        return json.dumps(
            {each.name: getattr(self, each.name) for each in fields(self)}, default=str
        )

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Return what :meth:`to_json` told."""
        values = json.loads(text)
        tuples = {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        return cls(**(values | tuples | {"data": Path(values["data"])}))

    @property
    def database(self) -> str:
        """The database's address, in full."""
        return self.database_url or f"sqlite:///{self.data / 'leaderboard.sqlite'}"

    @property
    def evidence(self) -> Path:
        """The folder of uploaded logs, each under the SHA-256 of its bytes."""
        return self.data / "evidence"

    @property
    def snapshots(self) -> Path:
        """The folder of standings that have been computed; it may be deleted at any time."""
        return self.data / "standings"

    @property
    def archives(self) -> Path:
        """The folder of archives of seasons; it may be deleted at any time."""
        return self.data / "archives"

    @property
    def incoming(self) -> Path:
        """The folder of uploads that are not complete yet."""
        return self.data / "incoming"
