"""What is shipped to run a board for years: the composition of containers, linted, and the proxy.

A Docker engine is not everywhere; the proxy's configuration is tried with the nginx that is here.
"""

from __future__ import annotations

import datetime
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gnomon_board.cli import COMMAND
from serving import pages_come_soon, serving

DEPLOY = Path(__file__).parents[4] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
NGINX = (DEPLOY / "nginx.conf").read_text("utf-8")


def test_the_composition_agrees_with_itself_and_with_the_program():
    services, board = COMPOSE["services"], COMPOSE["services"]["board"]
    verbs: Any = typer.main.get_command(COMMAND.application())
    options = {name for option in verbs.commands["serve"].params for name in option.opts}
    assert {word for word in board["command"] if word.startswith("--")} <= options
    believed = board["command"][board["command"].index("--trusted-proxy") + 1]
    assert services["proxy"]["networks"]["front"]["ipv4_address"] == believed
    assert (DEPLOY / board["build"] / "Dockerfile").is_file()
    for service in services.values():
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            local = source.startswith("./")
            made = local and (DEPLOY / source).exists()
            assert made or source == "./certificates" or source in COMPOSE["volumes"]
    assert "server board:8080;" in NGINX


def test_docker_reads_the_composition(tmp_path):
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    if subprocess.run(
        ["docker", "compose", "version"], capture_output=True, check=False
    ).returncode:
        pytest.skip("docker has no compose")
    environment = tmp_path / "env"
    environment.write_text("BOARD_HOST=board.example.org\nPOSTGRES_PASSWORD=hush\n")
    file = DEPLOY / "compose.yaml"
    command = ["docker", "compose", "--env-file", environment, "--file", file, "config", "--quiet"]
    read = subprocess.run(command, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
    return port


def listens(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def certify(folder: Path) -> None:
    """Write a certificate of this machine that it signs itself."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    moment, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(moment - day)
        .not_valid_after(moment + day)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    (folder / "fullchain.pem").write_bytes(certificate.public_bytes(pem))
    form = serialization.PrivateFormat.PKCS8
    (folder / "privkey.pem").write_bytes(key.private_bytes(pem, form, plain))


@pytest.fixture
def behind_nginx(settings, database, season, tmp_path) -> Iterator[tuple[int, int]]:
    """A board behind the shipped configuration; yields the ports for HTTP and HTTPS."""
    if shutil.which("nginx") is None:
        pytest.skip("nginx is not installed")
    certify(tmp_path)
    plain, secure = free_port(), free_port()
    settings = replace(settings, trusted_proxies=("127.0.0.1",), secure_cookies=True)
    with serving(settings, worker=False) as server:
        text = NGINX.replace("board:8080", f"127.0.0.1:{server.port}")
        text = text.replace("/etc/nginx/certificates", str(tmp_path))
        text = text.replace("listen 80 ", f"listen 127.0.0.1:{plain} ")
        text = text.replace("listen 443 ", f"listen 127.0.0.1:{secure} ")
        folders = "".join(
            f"{name}_temp_path {tmp_path}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        whole = (
            f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/errors;\n"
            f"events {{ worker_connections 1024; }}\n"
            f"http {{ access_log off;\n{folders}{text} }}\n"
        )
        file = tmp_path / "nginx.conf"
        file.write_text(whole)
        command = ["nginx", "-p", str(tmp_path), "-c", str(file)]
        proxy = subprocess.Popen(command)
        try:
            until = time.monotonic() + 20
            while proxy.poll() is None and not listens(secure):
                assert time.monotonic() < until
                time.sleep(0.05)
            assert proxy.poll() is None, (tmp_path / "errors").read_text()
            yield plain, secure
        finally:
            proxy.terminate()
            proxy.wait(20)


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_shipped_proxy_serves_a_board(behind_nginx, token):
    plain, secure = behind_nginx
    moved = httpx.get(f"http://127.0.0.1:{plain}/seasons")
    assert (moved.status_code, moved.headers["location"]) == (301, "https://127.0.0.1/seasons")
    with httpx.Client(base_url=f"https://127.0.0.1:{secure}", verify=False) as client:
        page = client.get("/seasons/spring", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assert len(page.headers["X-Request-ID"]) == 16
        assert "Strict-Transport-Security" in page.headers
        # What a client says of itself is not believed: the proxy puts the true address behind it.
        asked = client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
        assert asked.status_code == 200  # a program of the same machine asks


@pytest.mark.full
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_the_shipped_proxy_limits_what_an_address_has_open(behind_nginx):
    """Of uploads that do not go on; other clients' pages come."""
    _, secure = behind_nginx
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    head = b"PUT /api/submissions/1/log HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n"
    base = f"https://127.0.0.1:{secure}"
    elsewhere = httpx.HTTPTransport(verify=False, local_address="127.0.0.3")
    with ExitStack() as held, httpx.Client(base_url=base, transport=elsewhere) as client:
        for path in ("/", "/seasons/spring"):  # what the first page of a kind compiles
            client.get(path, headers={"Accept": "text/html"})
        for n in range(110):
            raw = socket.create_connection(("127.0.0.1", secure), 20, ("127.0.0.2", 0))
            upload = held.enter_context(trusting.wrap_socket(raw))
            upload.sendall(head)
            if n >= 105:
                assert upload.recv(100).startswith(b"HTTP/1.1 429 Too Many Requests")
        pages_come_soon(client, "/", "/seasons/spring")
