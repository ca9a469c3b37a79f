"""The pages that the world reads: each is there, and says what the interface says."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from gnomon import compare
from gnomon.results import noted
from gnomon.scores import read_scores

PAGES = [
    "/",
    "/seasons/spring-2026",
    "/seasons/autumn-2026",
    "/seasons/spring-2026/rules/clockwise",
    "/seasons/autumn-2026/rules/s-h01",
    "/entries/1",
    "/entries/3",
    "/entries/7",
    "/submissions/1",
    "/submissions/8",
    "/moderation",
    "/compare?a=1&b=3",
    "/compare?a=11&b=13",
    "/account",
    "/submit",
    "/submit?entry=11",
]


@pytest.mark.parametrize("path", PAGES)
def test_every_page_is_there_and_holds_no_script_or_style_of_its_own(lively, path):
    page = lively.get(path)
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert not re.search(r"<script(?![^>]*(src=|type=\"application/json\"))", page.text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page.text)


def board(client, season="spring-2026"):
    return client.get(f"/api/seasons/{season}/standings").json()["standings"]


@pytest.mark.parametrize("season", ["spring-2026", "autumn-2026"])
def test_the_rows_are_those_of_the_interface_in_the_order_of_their_ranks(lively, season):
    page = lively.get(f"/seasons/{season}").text
    ranked = board(lively, season)["ranked"]
    names = re.findall(r'<a href="/entries/\d+">([^<]+)</a><br>', page)
    assert names == [line["contender"]["name"] for line in ranked]
    keys = [(each["rank_low"], each["rank_high"], each["errors"]["value"]) for each in ranked]
    assert keys == sorted(keys)
    shown = re.findall(r'<td class="number">([\d.,]+)</td><td class="number small">', page)
    assert [float(text.replace(",", "")) for text in shown] == pytest.approx(
        [errors for _, _, errors in keys], rel=0.01
    )
    assert "2 assignments, 2 verified" in page


def test_withdrawn_and_refused_submissions_stay_with_a_reason(lively):
    page = lively.get("/seasons/spring-2026").text
    below = page[page.index('id="unranked"') :]
    for name in ("Second thoughts", "Too good", "Out of memory"):
        assert name in below
    gone = re.search(r'href="(/entries/\d+)">Second thoughts', below)[1]
    assert "the learner had a mistake in it" in lively.get(gone).text
    ranked = board(lively)["ranked"]
    assert "Second thoughts" not in [line["contender"]["name"] for line in ranked]


def test_two_learners_are_compared_as_the_statistics_compare_them(lively, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_bytes(lively.get("/seasons/spring-2026/scores.csv").content)
    ranked = board(lively)["ranked"]
    a, b = ranked[0]["contender"], ranked[-1]["contender"]
    page = lively.get(f"/compare?a={a['entry_id']}&b={b['entry_id']}").text
    with noted():
        [found] = compare(read_scores(path), a["name"], b["name"], "iqm", variances="own")
    shown = re.search(r"quartile means</th><td[^>]*>([^<]+)</td><td[^>]*>([^<]+) … ([^<]+)<", page)
    values = [float(text.replace(",", "").replace("−", "-")) for text in shown.groups()]
    assert values == pytest.approx([found.value, found.low, found.high], rel=0.01)
    rows = page.split('<a href="/seasons/spring-2026/rules/')[1:]
    assert len(rows) == 4
    for row in rows:
        p_value = float(re.search(r'data-label="p">([^<]+)<', row)[1])
        assert ("not significantly different" in row) == (p_value >= 0.05)
    assert "is better" in page
    entry = a["entry_id"]
    assert f'href="/compare?a={entry}&amp;b=' in lively.get(f"/entries/{entry}").text
    for other in (entry, 10**6, 8):
        assert lively.get(f"/compare?a={entry}&b={other}").status_code == 404


def test_the_state_and_the_reason_of_every_submission_are_shown(lively):
    page = "".join(lively.get(f"/entries/{entry}").text for entry in range(1, 12))
    assert "rule clockwise, trial 3, episode 12, attempt 4: denied, not accepted" in page
    for state in ("verified", "queued", "refused", "error", "withdrawn"):
        assert f'class="badge {state}"' in page


def test_what_is_not_there_is_told_as_a_page_to_people_and_as_json_to_programs(lively):
    page = lively.get("/seasons/none", headers={"Accept": "text/html"})
    assert page.status_code == 404
    assert "there is no season &#39;none&#39;" in page.text
    for path in (
        "/api/seasons/none",
        "/api/seasons/none/entries",
        "/api/submissions/999",
        "/entries/999",
    ):
        answer = lively.get(path)
        assert answer.status_code == 404
        assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize("path", ["/seasons/spring-2026/rules/none", "/entries/99999999999"])
def test_addresses_that_lead_nowhere_are_no_mistake_of_ours(lively, path):
    assert lively.get(path).status_code in (404, 422)


def figures(page):
    """Return the texts in each figure of a page, with its words."""
    found = re.findall(r'<img src="data:image/svg\+xml,([^"]+)" alt="([^"]+)">', page)
    drawn = [(ElementTree.fromstring(unquote(unescape(svg))), alt) for svg, alt in found]
    return [(" ".join("".join(svg.itertext()).split()), alt) for svg, alt in drawn]


def test_a_learner_has_its_curves(lively):
    (curves,) = figures(lively.get("/entries/3").text)
    assert curves[1] == "Errors so far, episode by episode, on each rule"
    for rule in ("clockwise", "color-match", "top-and-bottom", "red-first"):
        assert rule in curves[0]


def test_a_rule_has_every_trial(lively):
    ((texts, alt),) = figures(lively.get("/seasons/spring-2026/rules/clockwise").text)
    assert alt == "Errors of every trial of each learner"
    assert "Q-table" in texts


@pytest.mark.parametrize("path", ["/entries/7", "/seasons/autumn-2026"])
def test_without_trials_or_curves_there_is_no_figure(lively, path):
    assert figures(lively.get(path).text) == []


def test_an_attempt_that_takes_no_log_says_how_it_is_played(lively):
    page = lively.get("/submit?entry=11").text
    *_, plan, command = re.findall(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)
    told = tomllib.loads(unescape(plan))
    assert (told["season"], told["entry"]) == ("autumn-2026", "Slow and steady")
    assert "gnomon-board season play my.toml --to http" in command


def test_how_to_submit_shows_no_secret_on_a_command_line(client, season, token):
    client.post("/api/session", json={"token": token})
    page = client.get("/submit").text
    assert "--token" not in page
    assert "read -rs GNOMON_TOKEN" in page
    assert token not in page
