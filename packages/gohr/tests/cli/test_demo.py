"""The demo, end to end, by its real process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gohr.experiments import RunFolder

pytestmark = pytest.mark.full  # a minute of play

RULES = ("color-match", "clockwise", "b23-then-b01", "b3-then-b1")


def test_the_demo_learns_estimates_orders_and_reports(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    command = [sys.executable, "-m", "gohr", "demo", "--out", str(out), "--json"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert said.returncode == 0, said.stderr
    answer = json.loads(said.stdout)
    assert (answer["command"], answer["warnings"]) == ("demo", [])

    trials = RunFolder.open(out).trials()
    assert len(trials) == 4 * 2 * 20
    assert {t.status for t in trials} == {"done"}
    assert {t.rule for t in trials} == set(RULES)

    estimates = {(r["algorithm"], r["task"]): r for r in answer["results"] if "metric" in r}
    assert len(estimates) == 8
    for record in estimates.values():
        assert record["low"] <= record["value"] <= record["high"]
    for rule in RULES:
        assert estimates["linear_dqn", rule]["high"] < estimates["uniform", rule]["low"]

    orders = {r["algorithm"]: r for r in answer["results"] if "hardest_first" in r}
    # A random player is permitted two buckets of four by this rule, and one by the others.
    assert orders["uniform"]["hardest_first"][-1] == "b23-then-b01"

    page = (out / "report" / "report.html").read_text(encoding="utf-8").replace("\xa0", " ")
    # It stands alone: nothing is loaded from anywhere.
    assert not re.search(r'<(?:link|script|img)[^>]+(?:href|src)="(?!data:|#)', page)
    figures = {path.stem for path in (out / "report" / "figures").glob("*.svg")}
    assert figures
    assert figures == {path.stem for path in (out / "report" / "figures").glob("*.csv")}
    low, high = (f"{estimates['linear_dqn', 'clockwise'][end]:,.0f}" for end in ("low", "high"))
    assert f"[{low} to {high}]" in page
