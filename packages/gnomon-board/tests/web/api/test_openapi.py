"""Every operation of the interface, with whatever a generator can think of: never a status 5xx."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from serving import Server, serving
from small_season import fill, make_account, make_season
from submitted import bearer

pytestmark = pytest.mark.full  # hundreds of requests made from the schema


N_EXAMPLES = 8


@pytest.fixture
def filled(settings, database) -> Iterator[Server]:
    """A server with something in every table, that is in no hurry."""
    fill(database, settings)
    make_season(database, "secret", "hidden")
    unhurried = replace(settings, requests_per_minute=10**6, submissions_per_hour=10**6)
    with serving(unhurried, worker=False) as server:
        yield server


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_operation_ever_fails(filled, database, mode):
    schema = schemathesis.openapi.from_url(f"{filled.url}/openapi.json")
    tried = 0
    for k, found in enumerate(schema.get_all_operations()):
        operation = found.ok()
        # Of its own: an operation may close the account that asks for it.
        token = make_account(database, f"admin {k}", "admin")
        check = _check(operation.as_strategy(generation_mode=mode), bearer(token))
        with suppress(Unsatisfiable):  # an operation that takes nothing cannot be asked wrongly
            check()
            tried += 1
    assert tried > 20
    log = filled.log.read_text()
    assert "Traceback" not in log, log[-3000:]


@pytest.mark.parametrize(
    "text",
    ["' OR 1=1 --", "'; DROP TABLE tokens; --", '" UNION SELECT digest FROM tokens --', "%00"],
)
def test_sql_is_only_text(client, database, season, text):
    token = make_account(database, "root", "admin")
    for path in ("/api/seasons/{}", "/api/seasons/{}/entries", "/api/submissions/{}/log", "/{}"):
        assert client.get(path.format(quote(text, safe=""))).status_code in (404, 422)
    made = {"name": f"x{text}", "description": text}
    answer = client.post("/api/seasons/spring/entries", json=made, headers=bearer(token))
    assert answer.status_code == 201
    assert answer.json()["description"] == text
    assert client.get("/api/tokens", headers=bearer(token)).status_code == 200
    assert client.get("/api/tokens", headers=bearer(text.replace('"', ""))).status_code == 401


def _check(cases: object, headers: dict[str, str]) -> Callable[[], None]:
    @hypothesis_settings(
        max_examples=N_EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases)
    def check(case: schemathesis.Case) -> None:
        answer = case.call(headers=headers, timeout=120)  # the first page has much to load
        assert answer.status_code < 500, (case.as_curl_command(), answer.text)

    return check
