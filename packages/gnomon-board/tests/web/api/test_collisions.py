"""Two who do the same at the same time: one of them does it, and the other is told so."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.exc import IntegrityError, OperationalError

from gnomon_board.worker import work
from remote_play import begin, hidden_season, move, play_at_random, work_off
from submitted import bearer, play_entry, register, send

#: What a transaction holds together must hold on PostgreSQL too.
ON_BOTH_DATABASES = True

N = 8

pytestmark = pytest.mark.usefixtures("programs_here")


def at_once(deed: Callable[[int], int]) -> Counter[int]:
    """Do something in several threads, and count the statuses."""
    barrier = threading.Barrier(N)

    def one(k: int) -> int:
        barrier.wait()
        return deed(k)

    with ThreadPoolExecutor(N) as pool:
        return Counter(pool.map(one, range(N)))


def test_one_name_is_registered_once(client, season, token, admin_token):
    path, who = f"/api/seasons/{season.name}/entries", [bearer(token), bearer(admin_token)]
    for name in ("Ada's", "Bob's", "Eve's"):
        value = {"name": name}
        found = at_once(
            lambda k, v=value: client.post(path, json=v, headers=who[k % 2]).status_code
        )
        assert set(found) == {201, 409}
    assert len(client.get(path).json()) == 3


def test_one_account_is_made_once(client, admin_token):
    wanted = {"registration": "open"}
    client.put("/api/registration", json=wanted, headers=bearer(admin_token))
    ask = {"name": "carl"}
    found = at_once(lambda _: client.post("/api/token-requests", json=ask).status_code)
    assert found == {201: 1, 409: N - 1}


def test_one_attempt_is_submitted_once_and_followed_by_one(client, season, token, tmp_path):
    register(client, token, "Uniform")
    packed = play_entry(client, 1, tmp_path)
    announced, headers = "/api/entries/1/attempts/1/submission", bearer(token)
    logs = [packed.manifest | {"log_sha256": f"{k:064x}"} for k in (1, 2)]
    found = at_once(lambda k: client.put(announced, json=logs[k % 2], headers=headers).status_code)
    assert set(found) <= {200, 409}
    found = at_once(lambda _: send(client, token, 1, packed).status_code)
    assert set(found) <= {200, 202, 409, 429}  # one log of an account is taken at a time
    assert [s["state"] for s in client.get("/api/seasons/spring/submissions").json()] == ["queued"]
    path = "/api/entries/1/attempts"
    found = at_once(lambda _: client.post(path, headers=bearer(token)).status_code)
    assert found == {201: 1, 409: N - 1}
    [entry] = client.get("/api/seasons/spring/entries").json()
    assert [each["number"] for each in entry["attempts"]] == [1, 2]


def test_an_attempt_that_several_finish_and_close_at_once_ends_once(
    client, database, settings, token
):
    hidden_season(database)
    play = begin(client, token)
    *most, last = (trial["trial"] for trial in play["trials"])
    play_at_random(client, token, most)
    close = f"/api/remote/entries/{play['entry']}/attempts/1/close"

    def ended(k: int) -> int:
        if k % 2:
            return client.post(close, headers=bearer(token)).status_code
        return move(client, token, (last, 0, [k] * 200)).status_code

    found = at_once(ended)
    assert set(found) <= {200, 204, 403, 409}
    assert found[204] <= 1, found
    at_once(lambda _: work_off(database, settings) or 0)
    assert [s["state"] for s in client.get("/api/seasons/s1/submissions").json()] == ["verified"]
    assert client.post(close, headers=bearer(token)).status_code == 409


def test_a_moderator_and_a_worker_never_wait_for_each_other(
    client, database, settings, season, token, admin_token, tmp_path
):
    """PostgreSQL ends one of two who do, after a second; SQLite's writers take turns."""
    for k in (1, 2):
        register(client, token, f"Learner {k}")
        assert send(client, token, k, play_entry(client, k, tmp_path / str(k))).status_code == 202
    stopped = threading.Event()
    worker = threading.Thread(target=work, args=(database, settings, "worker", stopped))
    worker.start()
    who = bearer(admin_token)

    def moderate(k: int) -> int:
        path = f"/api/submissions/{k % 2 + 1}"
        for _ in range(8):
            for answer in (
                client.post(f"{path}/requeue", headers=who),
                client.post(f"{path}/refuse", json={"reason": "again"}, headers=who),
            ):
                if answer.status_code not in (200, 409):
                    return answer.status_code
        return 200

    try:
        assert at_once(moderate) == {200: N}
    finally:
        stopped.set()
        worker.join(30)


@pytest.mark.parametrize(("error", "status"), [(IntegrityError, 409), (OperationalError, 503)])
def test_what_the_database_says_is_answered(app, client, error, status):
    @app.get("/api/broken")
    def broken() -> None:
        raise error("SELECT 'secret'", {}, Exception("secret"))

    answer = client.get("/api/broken")
    assert answer.status_code == status
    assert "try again" in answer.json()["detail"]
    assert "secret" not in answer.text
