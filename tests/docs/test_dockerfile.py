"""The Dockerfile of ``gnomon-board serve``: linted, tried, and built where it can be.

A Docker engine is not everywhere. Without one the image is not built, and that is said; what its
last lines do, serving and looking after its health, is done by the same commands in this
environment.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typer

from gnomon_board.cli import COMMAND

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text("utf-8")


def instructions(text: str) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile, in order, each with its arguments in one line."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    whole = re.sub(r"\\\n\s*", " ", lines)
    return [(line.split()[0], line.partition(" ")[2]) for line in whole.splitlines() if line]


def listed(arguments: str) -> list[str]:
    """Return the command of an instruction that has it as a JSON list."""
    found: list[str] = json.loads(arguments[arguments.index("[") :])
    return found


def default_port() -> str:
    """Return the port that ``gnomon-board serve`` listens on if it is told none."""
    # An application with verbs is a click.Group, which Typer declares as a Command.
    commands = typer.main.get_command(COMMAND.application()).commands  # type: ignore[attr-defined]
    return str(next(p.default for p in commands["serve"].params if p.name == "port"))


def findings(text: str) -> list[str]:
    """Return what is wrong with a Dockerfile; nothing if nothing is."""
    found = []
    said = instructions(text)
    last = dict(said)
    for name, arguments in said:
        if name == "FROM" and not re.match(r"python:3\.\d+(\.\d+)?-\w+", arguments):
            found.append(f"FROM {arguments}: expected a Python pinned to its minor version")
        if name == "COPY":
            *sources, _ = arguments.split()
            found += [f"COPY {x}: there is none" for x in sources if not (ROOT / x).exists()]
    if last.get("USER", "root").partition(":")[0] in ("root", "0"):
        found.append("USER: expected one that is not root")
    if last.get("EXPOSE") != default_port():
        found.append(f"EXPOSE: expected {default_port()}, where gnomon-board serve listens")
    if f"127.0.0.1:{default_port()}/" not in last.get("HEALTHCHECK", ""):
        found.append(f"HEALTHCHECK: expected one that asks port {default_port()}")
    if listed(last.get("ENTRYPOINT", "[]"))[:2] != ["gnomon-board", "serve"]:
        found.append("ENTRYPOINT: expected gnomon-board serve")
    return found


def test_nothing_is_wrong_with_the_dockerfile():
    assert findings(TEXT) == []


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("python:3.12-slim", "python:latest", "FROM python:latest"),
        ("USER gnomon", "USER root", "USER"),
        ("USER gnomon", "", "USER"),
        ("EXPOSE 8080", "EXPOSE 80", "EXPOSE"),
        ("127.0.0.1:8080/", "127.0.0.1:80/", "HEALTHCHECK"),
        ("COPY packages", "COPY package", "COPY package:"),
        ('"serve"', '"demo"', "ENTRYPOINT"),
    ],
)
def test_what_is_wrong_with_a_dockerfile_is_found(right, wrong, told):
    assert right in TEXT
    [found] = findings(TEXT.replace(right, wrong))
    assert found.startswith(told)


def test_the_image_is_given_what_it_copies():
    taken = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }
    copied = [arguments.split()[:-1] for name, arguments in instructions(TEXT) if name == "COPY"]
    assert taken == {source for sources in copied for source in sources}


@contextmanager
def served(data: Path) -> Iterator[str]:
    """Serve as the container does, but here: another folder, the loopback address, a free port."""
    program, *arguments = listed(dict(instructions(TEXT))["ENTRYPOINT"])
    here = ["--host", "127.0.0.1", "--port", "0", "--data", str(data), "--no-worker"]
    process = subprocess.Popen(
        [sys.executable, "-m", program.replace("-", "_"), *arguments, *here],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split(" at ")[1].split()[0]
    finally:
        process.terminate()
        process.communicate(timeout=40)


@pytest.mark.full
def test_the_health_check_tells_a_server_that_answers_from_one_that_does_not(tmp_path):
    command = listed(dict(instructions(TEXT))["HEALTHCHECK"])
    with served(tmp_path / "data") as url:
        asked = [
            sys.executable,
            *(part.replace(f"http://127.0.0.1:{default_port()}", url) for part in command[1:]),
        ]
        well = subprocess.run(asked, capture_output=True, text=True, timeout=60)
        assert well.returncode == 0, well.stderr
    gone = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert gone.returncode == 1


def docker(*arguments: str, timeout_s: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["docker", *arguments], capture_output=True, text=True, timeout=timeout_s, check=False
    )


def test_the_image_serves_and_is_found_healthy():
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    engine = docker("info", "--format", "{{.ServerVersion}}")
    if engine.returncode:
        pytest.skip(f"no Docker engine answers: {engine.stderr}")
    built = docker("build", "--quiet", str(ROOT), timeout_s=1200)
    assert built.returncode == 0, built.stderr
    image = built.stdout.strip()
    started = docker("run", "--init", "--detach", "--health-interval=1s", image)
    assert started.returncode == 0, started.stderr
    container = started.stdout.strip()
    try:
        state = ""
        for _ in range(90):
            state = docker("inspect", "--format", "{{.State.Health.Status}}", container).stdout
            if state.strip() == "healthy":
                break
            time.sleep(1)
        assert state.strip() == "healthy", docker("logs", container).stderr
        assert docker("exec", container, "id", "--user").stdout.strip() == "10001"
    finally:
        docker("rm", "--force", "--volumes", container)
        docker("rmi", image)
