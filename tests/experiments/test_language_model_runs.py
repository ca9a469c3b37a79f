"""Runs of language models: spending, resuming, replaying; nothing is asked twice."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from gnomon import report
from gnomon.errors import ConfigError
from gnomon.experiments import ExperimentConfig, RunFolder, forecast, run
from gnomon.learners.language_model import endpoint
from gnomon.learners.language_model.exchanges import exchanges_of
from learners.language_model.provider import play, serving

BY_COLOR = "(*,*,red,*,0) (*,*,black,*,1) (*,*,blue,*,2) (*,*,yellow,*,3)"
PRICE = {"model": "plays", "input": 2.0, "output": 10.0, "cached": 0.5}


@pytest.fixture
def provider(monkeypatch):
    monkeypatch.setenv("A_KEY", "very-secret")
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.01)
    with serving() as found:
        yield found


def config_of(provider, *models, trials=2, episodes=1, timeout_s=0.5, **fields):
    learners = [
        {
            "kind": "language_model",
            "name": model,
            "model": model,
            "url": f"{provider.url}/chat/completions",
            "key_variable": "A_KEY",
            "timeout_s": timeout_s,
        }
        for model in models or ("plays",)
    ]
    rules = [{"name": "by-color", "text": BY_COLOR}]
    return ExperimentConfig(
        "models", rules, learners, trials=trials, episodes=episodes, horizon=20, **fields
    )


def shards(folder):
    return {path.name: path.read_bytes() for path in (folder / "shards").glob("*.parquet")}


def test_fifty_trials_with_all_sorts_of_trouble_resume_and_ask_nothing_twice(provider, tmp_path):
    # Long enough that a busy machine does not give up an answer that the server has sent.
    provider.hangs_s, provider.hangs_every = 3.5, 40
    models = ("plays", "limited", "overloaded", "hangs", "dies", "junk")
    first = run(
        config_of(provider, *models, trials=9, timeout_s=3.0, budget={"run": {"tokens": 60_000}}),
        tmp_path / "run",
        workers=8,
    )
    assert first.failed > 0
    assert first.done + first.failed == 54
    assert all("budget of the run is used up" in error for error in first.errors)
    config = config_of(provider, *models, trials=9, timeout_s=3.0)
    again = run(config, tmp_path / "run", workers=8)
    assert (again.skipped, again.done, again.failed) == (first.done, first.failed, 0)
    assert set(provider.answered.values()) == {1}
    n_played = 54 * 9
    assert len(provider.answered) == n_played
    rows = exchanges_of(tmp_path / "run" / "exchanges.sqlite")
    assert len(rows) == n_played
    assert {row["kind"] for row in rows} == {"move"}

    n_requests = len(provider.requests)
    replayed = run(config, tmp_path / "again", transcript=tmp_path / "run", workers=2)
    assert replayed.done == 54
    assert len(provider.requests) == n_requests
    assert shards(tmp_path / "again") == shards(tmp_path / "run")


def test_a_trial_that_hangs_fails_and_goes_on_later(provider, tmp_path, monkeypatch):
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE_S", 0.001)
    provider.hangs_s = 1.5
    config = config_of(provider, "hangs", trials=1)
    learner = config.learners[0]
    once = ExperimentConfig(
        "models",
        config.rules,
        [{**learner.to_record(), "max_sends": 1}],
        trials=1,
        episodes=1,
        horizon=20,
    )
    summary = run(once, tmp_path / "run")
    assert "expected an answer within 0.5 s (sent 1 times)" in summary.errors[0]
    provider.hangs_s = 0.0
    for _ in range(10):
        summary = run(once, tmp_path / "run")
    assert summary.folder.trials()[0].status == "done"
    assert set(provider.answered.values()) == {1}


def test_a_budget_of_a_trial_in_money(provider, tmp_path):
    budget = {"trial": {"money": 0.003}}
    with_price = config_of(provider, trials=1, prices=[PRICE], budget=budget)
    summary = run(with_price, tmp_path / "run")
    assert "the budget of the trial is used up: 0.00" in summary.errors[0]
    assert (
        "of 0.003 money; with a larger one under [budget] the same run goes on" in summary.errors[0]
    )
    rows = exchanges_of(tmp_path / "run" / "exchanges.sqlite")
    used = sum(row["cost"] for row in rows)
    assert 0.003 <= used < 0.005
    row = rows[0]
    fresh = row["tokens_in"] - row["tokens_cached"]
    assert row["cost"] == pytest.approx((2 * fresh + 0.5 * 10 + 10 * 50) / 1e6)
    assert (row["tokens_out"], row["tokens_reasoning"]) == (50, 30)
    assert row["model"] == "plays-2026-10-01"
    without = config_of(provider, trials=1, budget=budget)
    assert "expected a price of 'plays' under [[prices]]" in run(without, tmp_path / "x").errors[0]


def test_every_budget_stops_a_trial_and_the_run(provider, tmp_path):
    provider.say = lambda body: time.sleep(0.02) or play(body)
    enough = {"tokens": 150.0, "seconds": 0.05, "money": 0.001}
    for whose in ("trial", "run"):
        for kind, most in enough.items():
            budget = {whose: {kind: int(most) if kind == "tokens" else most}}
            config = config_of(provider, trials=1, prices=[PRICE], budget=budget)
            summary = run(config, tmp_path / f"{whose}-{kind}")
            assert summary.failed == 1, (whose, kind)
            assert f"the budget of the {whose} is used up" in summary.errors[0]
            assert kind in summary.errors[0]


def test_the_key_is_written_nowhere_and_the_card_has_the_instructions(provider, tmp_path):
    summary = run(config_of(provider, trials=1), tmp_path / "run")
    assert summary.done == 1
    for path in (tmp_path / "run").rglob("*"):
        assert path.is_dir() or b"very-secret" not in path.read_bytes()
    for row in exchanges_of(tmp_path / "run" / "exchanges.sqlite"):
        assert "very-secret" not in json.dumps(row)
    card = json.loads((tmp_path / "run" / "card.json").read_text())
    assert card["learners"][0]["instructions"].startswith("A hidden rule says")
    assert card["learners"][0]["instructions_version"] == 1


def test_prices_and_budgets_change_no_hash_and_are_read_back(provider, tmp_path):
    plain = config_of(provider)
    priced = config_of(provider, prices=[PRICE], budget={"run": {"seconds": 3600}})
    assert plain.hash == priced.hash
    assert ExperimentConfig.from_record(priced.to_record()) == priced
    run(priced, tmp_path / "run")
    assert RunFolder.open(tmp_path / "run").config.prices == (PRICE,)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"budget": {"run": {"tokens": -1}}}, "'budget', 'run', 'tokens': expected a number of at"),
        ({"budget": {"runs": {}}}, "field 'budget': unknown field 'runs'; did you mean 'run'"),
        ({"prices": [{"model": "m"}]}, "field 'prices', item 1: missing field 'input'"),
    ],
)
def test_a_wrong_price_or_budget_is_told(provider, fields, message):
    with pytest.raises(ConfigError, match=message):
        config_of(provider, **fields)


def test_a_transcript_that_does_not_fit(provider, tmp_path):
    with pytest.raises(ConfigError, match=r"expected a run folder with exchanges\.sqlite"):
        run(config_of(provider), tmp_path / "run", transcript=tmp_path)
    run(config_of(provider, trials=1), tmp_path / "run")
    n_requests = len(provider.requests)
    more = run(config_of(provider, trials=2), tmp_path / "more", transcript=tmp_path / "run")
    assert (more.done, more.failed) == (1, 1)
    assert "expected an answer to request 0 of trial" in more.errors[0]
    assert len(provider.requests) == n_requests
    other = ExperimentConfig("x", ["clockwise"], ["uniform"], trials=1, episodes=1)
    with pytest.raises(ConfigError, match="expected a learner of kind 'language_model'"):
        run(other, tmp_path / "y", transcript=tmp_path / "run")


def test_another_machine_asks_no_model_and_threads_have_no_limits(provider, tmp_path):
    with pytest.raises(ConfigError, match="a language model is asked from here"):
        run(config_of(provider), tmp_path / "run", scheduler="tcp://127.0.0.1:9")
    with pytest.raises(ConfigError, match="threads cannot be ended"):
        run(config_of(provider, trial_timeout_s=9), tmp_path / "run", scheduler="threads")
    assert not (tmp_path / "run").exists()


def test_a_forecast_asks_nothing(provider, tmp_path):
    costs = forecast(config_of(provider), tmp_path / "run")
    assert costs.learners[0].source == "not asked"
    assert not provider.requests


@pytest.mark.full
def test_a_run_that_is_killed_asks_at_most_once_more_what_was_in_flight(provider, tmp_path):
    text = f"""
name = "models"
trials = 4
episodes = 2
horizon = 20
rules = [{{ name = "by-color", text = "{BY_COLOR}" }}]
[[learners]]
kind = "language_model"
model = "plays"
key_variable = "A_KEY"
url = "{provider.url}/chat/completions"
"""
    (tmp_path / "models.toml").write_text(text)
    words = [sys.executable, "-m", "gnomon", "run", "models.toml", "--out", "run", "--json"]
    first = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(provider.answered) < 30 and time.monotonic() < until:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert 30 <= len(provider.answered) < 72
    subprocess.run(words, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert len(provider.answered) == 72
    assert sum(provider.answered.values()) <= 73


def test_attempts_trials_and_the_report_say_what_they_took(provider, tmp_path):
    n_asked = []

    def say(body):
        n_asked.append(1)
        return "hm" if len(n_asked) == 2 else play(body)

    provider.say = say
    config = config_of(provider, "plays", "other", trials=2, prices=[PRICE])
    summary = run(config, tmp_path / "run")
    attempts = summary.folder.attempts()
    assert attempts.height == 2 * 2 * 9
    assert attempts["n_requests"].to_list()[:3] == [1, 2, 1]
    assert attempts["n_unreadable"].sum() == 1
    assert attempts["tokens_out"].to_list()[:2] == [50, 100]
    spent = summary.folder.spending()
    assert spent["n_requests"].to_list() == [10, 9, 9, 9]
    assert spent["tokens_reasoning"].to_list() == [300, 270, 270, 270]
    assert spent["cost"].is_null().to_list() == [False, True, False, True]
    assert attempts.filter(learner="plays", trial=0)["cost"].sum() == pytest.approx(
        spent["cost"][0]
    )
    report(summary, tmp_path / "report.html", n_resamples=50)
    page = (tmp_path / "report.html").read_text()
    assert "What did it cost?" in page
    row = re.search(
        r'<th scope="row">plays</th>(.*?)</tr>', page.split("Errors and cost")[-1], re.S
    )
    cells = re.findall(r"<td>(.*?)</td>", row.group(1))
    assert cells[:3] == ["by-color", "2", "0"]
    assert cells[4:6] == ["475", "285"]
    assert cells[-1] == "0.5"
    assert "tokens of a trial, in and out" in page
    run(config_of(provider, trials=1, prices=[PRICE]), tmp_path / "priced")
    report(tmp_path / "priced", tmp_path / "priced.html", n_resamples=50)
    assert "cost of a trial" in (tmp_path / "priced.html").read_text()
