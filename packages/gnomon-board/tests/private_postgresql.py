"""A PostgreSQL of the tests' own: a fresh cluster in a temporary folder, on a socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import psycopg
from sqlalchemy.engine import make_url

__all__ = ["NoPostgresql", "fresh_database", "new_database", "running_cluster"]

_OF_INITDB = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
    "--no-instructions",
]
_number = count()


class NoPostgresql(Exception):  # noqa: N818 - the reason of a skip, not an error
    """Why there is no PostgreSQL here."""


@contextmanager
def running_cluster() -> Iterator[str]:
    """Start a cluster, yield the address of its first database, and end it.

    Raises
    ------
    NoPostgresql
        PostgreSQL is not installed, or cannot be started.
    """
    programs = _programs()
    owner = _owner()
    # A socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="gnomon-pg-", dir="/tmp"))
    try:
        if owner is not None:
            shutil.chown(folder, owner, owner)
        _make(programs, folder, owner)
        with _served(programs, folder, owner):
            yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(cluster: str, name: str, template: str = "template1") -> str:
    """Add a database to a cluster, as a copy of another one, and return its address."""
    _execute(cluster, f"CREATE DATABASE {name} TEMPLATE {template}")
    return make_url(cluster).set(database=name).render_as_string(hide_password=False)


@contextmanager
def fresh_database(cluster: str, template: str = "template1") -> Iterator[str]:
    """Yield the address of a database that is there for a while."""
    name = f"board_{next(_number)}"
    try:
        yield new_database(cluster, name, template)
    finally:
        _execute(cluster, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _execute(cluster: str, statement: str) -> None:
    with psycopg.connect(cluster.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(statement)


def _programs() -> Path:
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda p: float(p.parts[-3])
    )
    on_path = shutil.which("initdb")
    if not found and on_path is None:
        raise NoPostgresql("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return (found[-1] if found else Path(on_path or "")).parent


def _owner() -> str | None:
    """Return under whose name it must run: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise NoPostgresql("PostgreSQL cannot run as root, and there is no user postgres") from None


def _make(programs: Path, folder: Path, owner: str | None) -> None:
    done = subprocess.run(
        [programs / "initdb", "--pgdata", folder / "data", *_OF_INITDB],
        user=owner,
        group=owner,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        raise NoPostgresql(f"initdb failed: {done.stderr.strip().splitlines()[-1:]}")


@contextmanager
def _served(programs: Path, folder: Path, owner: str | None) -> Iterator[None]:
    settings = {"listen_addresses": "", "fsync": "off", "max_connections": "200"}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [programs / "postgres", "-D", folder / "data", "-k", folder, *options],
            user=owner,
            group=owner,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
        try:
            _wait(programs, folder, server)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # PostgreSQL's "fast" end
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait(programs: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        ready = [programs / "pg_isready", "--quiet", "--host", folder]
        if subprocess.run(ready, check=False).returncode == 0:
            return
        if server.poll() is not None:
            break
        time.sleep(0.1)
    lines = (folder / "log").read_text().strip().splitlines()
    raise NoPostgresql(f"PostgreSQL does not start: {lines[-1:]}")
