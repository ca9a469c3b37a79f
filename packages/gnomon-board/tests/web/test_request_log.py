"""The log of a server: which request a line belongs to, and nothing that is secret."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest

from app_client import AppClient
from gnomon_board import create_app
from gnomon_board.web.request_log import JsonLines, Lines


def test_every_answer_bears_an_id_of_its_own(client):
    ids = {client.get(path).headers["X-Request-ID"] for path in ("/", "/healthz", "/nowhere")}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


@pytest.mark.parametrize(
    ("given", "kept"), [("deploy-7.2", True), ("a b", False), ("x" * 65, False), ("é", False)]
)
def test_an_id_is_taken_from_a_trusted_proxy_alone(settings, database, client, given, kept):
    asked = {"X-Request-ID": given.encode()}
    assert client.get("/healthz", headers=asked).headers["X-Request-ID"] != given
    behind = replace(settings, trusted_proxies=("127.0.0.1",))
    with AppClient(create_app(behind, database)) as proxied:
        found = proxied.get("/healthz", headers=asked).headers["X-Request-ID"]
    assert (found == given) is kept


def test_a_request_is_logged_by_its_route(client, caplog):
    caplog.set_level("INFO", "gnomon.requests")
    answer = client.get("/api/seasons/a-secret-name?token=hush")
    [record] = [each for each in caplog.records if each.name == "gnomon.requests"]
    line = json.loads(JsonLines().format(record))
    assert (line["method"], line["status"]) == ("GET", answer.status_code)
    assert line["route"] == "/api/seasons/{season}"
    assert 0 < line["seconds"] < 60
    assert "secret" not in str(line)
    assert "hush" not in str(line)


def test_whom_a_panel_sent_is_not_logged(client, caplog):
    caplog.set_level("DEBUG")
    caplog.set_level("DEBUG", "gnomon.requests")
    client.get("/join/a-secret-code?PROLIFIC_PID=5f3a9c&STUDY_ID=s1")
    lines = [JsonLines().format(each) for each in caplog.records if "gnomon" in each.name]
    assert lines
    assert not [line for line in lines if "5f3a9c" in line or "a-secret-code" in line]


def test_a_mistake_of_ours_bears_the_id_that_was_told(settings, database, monkeypatch, caplog):
    caplog.set_level("INFO", "gnomon.requests")
    monkeypatch.setattr("gnomon_board.web.monitoring.jobs_by_state", lambda session: 1 / 0)
    with AppClient(create_app(settings, database), raise_app_exceptions=False) as client:
        answer = client.get("/healthz")
    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] in answer.json()["detail"]
    assert [each.fields["status"] for each in caplog.records if hasattr(each, "fields")] == [500]


def test_lines_for_people_and_for_programs(caplog):
    caplog.set_level("INFO")
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("gnomon.server").exception("looking")
    [record] = caplog.records
    assert Lines("%(name)s: %(message)s").format(record).startswith("gnomon.server: looking")
    line = json.loads(JsonLines().format(record))
    assert line["level"] == "error"
    assert line["traceback"].endswith("ValueError: no")
