"""The pages of learners, and those that say how to enter one."""

from __future__ import annotations

import html
import re
import tomllib


def test_a_learner_leads_to_its_place(lively):
    page = lively.get("/entries/2").text
    assert 'href="/seasons/spring-2026#entry-2"' in page


def test_an_attempt_that_takes_no_log_says_how_it_is_played(lively):
    page = lively.get("/submit?entry=11").text
    *_, plan, command = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    told = tomllib.loads(html.unescape(plan))
    assert (told["season"], told["entry"]) == ("autumn-2026", "Slow and steady")
    assert "gnomon-board play my.toml --to http" in command


def test_how_to_submit_shows_no_secret_on_a_command_line(client, season, token):
    client.post("/api/session", json={"token": token})
    page = client.get("/submit").text
    assert "--token" not in page
    assert "read -rs GNOMON_TOKEN" in page
    assert token not in page
