"""The JSON object of every verb, with the fields that programs may rely on; LaTeX and figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

PAIR = "a b metric task value low high p_value p_adjusted level method better"
ESTIMATE = "algorithm metric task value low high level method n_runs n_tasks"

#: The fields of the records of each command that draws a figure; FIELDS adds the other commands.
DRAWN = {
    "estimate scores.csv": ESTIMATE,
    "estimate items.csv": ESTIMATE,
    "compare scores.csv": PAIR,
    "compare scores.csv dqn sac": PAIR,
    "compare items.csv": PAIR,
    "compare items.csv m0 m1 --sequential e": PAIR,
    "rank scores.csv": "name value low high rank_low rank_high tiers",
    "rank items.csv": "name value low high rank_low rank_high tiers",
    "profile scores.csv": "algorithm kind tau value low high",
    "profile scores.csv --kind ratio": "algorithm kind tau value low high",
    "profile scores.csv --kind likelihood": "algorithm kind tau value low high",
    "curves curves.csv": "algorithm metric task step value low high",
    "curves curves.csv --summary area": ESTIMATE,
    "plan scores.csv dqn sac": "a b metric runs power low high needed needed_low needed_high",
}
FIELDS = DRAWN | {
    "audit scores.csv": "section name finding value",
    "audit items.csv": "section name finding value",
    "gate scores.csv dqn sac --metric mean --regression": (
        "claim group holds value low high p_value n_missing detectable"
    ),
    "distill suite.csv --size 2": "tasks weights relative_error nested_relative_error n_rows",
    "predict model.json suite.csv": "algorithm value low high level extrapolation",
}


@pytest.fixture
def items(command):
    """Write items.csv, of three models."""
    correct = np.random.default_rng(0).integers(0, 2, (3, 60))
    rows = [f"m{i},q{j},{x}" for (i, j), x in np.ndenumerate(correct)]
    Path("items.csv").write_text("\n".join(["model,item,correct", *rows]))


@pytest.mark.parametrize("words", FIELDS)
def test_records_have_the_fields_of_their_verb(command, scores, items, suite, words):
    if "model.json" in words:
        command("gnomon distill suite.csv --size 2 --model model.json")
    found = command(f"gnomon {words} --json")
    assert found.results
    answer = json.loads(found.out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    assert answer["command"] == words.split()[0]
    assert all(set(FIELDS[words].split()) <= set(one) for one in found.results)


@pytest.mark.parametrize("words", DRAWN)
def test_results_are_drawn_and_printed_for_latex(command, scores, items, words):
    assert command(f"gnomon {words} --figure out.svg").out.endswith("written to out.svg\n")
    assert Path("out.svg").read_text().startswith("<?xml")
    latex = command(f"gnomon {words} --latex").out
    assert r"\begin{tabular}" in latex
    assert latex.endswith("\\end{tabular}\n")
