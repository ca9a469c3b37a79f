"""The published numbers of four papers, by the scripts of ``reproduction/``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("GNOMON_DATA") or ROOT / ".." / "shared" / "data").resolve()
here = pytest.mark.skipif(
    not (DATA / "scores").is_dir(), reason="the published scores are not in the repository"
)

#: How many values of the Atari-5 paper are compared, by table or section.
ATARI5 = {
    "2": 14,
    "3": 15,
    "4": 4,
    "5": 12,
    "6": 6,
    "8": 124,
    "9": 27,
    "10": 342,
    "11": 627,
    "12": 114,
    "appendix A": 2,
    "figure 4": 114,
    "section 4.1": 2,
    "section 4.3": 7,
    "section 5.1": 6,
    "section 5.3": 3,
    "section 5.4": 1,
    "section 5.5": 3,
    "section 6": 5,
    "section 7": 3,
}


@pytest.fixture
def script(monkeypatch):
    """Load a script of the folder."""
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("GNOMON_DATA", str(DATA))
    return lambda name: import_module(f"reproduction.{name}")


@here
@pytest.mark.full
def test_every_published_value_of_atari_5(script):
    found = list(script("atari5").comparisons())
    assert Counter(one.where for one in found) == ATARI5
    assert [one.item for one in found if one.fails] == []
    assert [one.item for one in found if one.equal is False] == ["Atari-10", "Agent57 power MWh"]
    unknown = Counter(one.where for one in found if one.equal is None)
    assert unknown == {"section 4.1": 1, "section 5.3": 3}


@here
@pytest.mark.full
@pytest.mark.parametrize(
    ("paper", "counts"), [("rliable", "14 equal, 0 not equal, 2"), ("recht", "4 equal, 0 not")]
)
def test_the_script_of_a_paper_exits_with_0(paper, counts):
    command = [sys.executable, "-m", f"reproduction.{paper}"]
    environment = os.environ | {"GNOMON_DATA": str(DATA)}
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith(counts)


@pytest.mark.full
def test_claims_on_the_game_are_checked_in_three_readings(script):
    found = list(script("gohr").comparisons(trials=2))
    readings = [one.where.removeprefix("section 5, reading: ") for one in found]
    assert readings == ["default"] * 3 + ["goes on"] * 3 + ["occupied cells"] * 3
    assert all(one.explained for one in found)


def test_a_difference_without_an_explanation_fails(script, capsys):
    module = script("comparison")
    one = module.compared("2", "R2", "0.98", 0.9712)
    assert (one.ours, one.fails) == ("0.97", True)
    assert module.show("A paper", [one]) == 1
    known = module.compared("2", "R2", "0.98", 0.9712, explained="a misprint")
    assert module.show("A paper", [known]) == 0
    assert "differs as explained (a misprint)" in capsys.readouterr().out


def test_a_missing_file_is_named_with_its_source(script, monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    with pytest.raises(SystemExit, match=r"machado2018_mean_std.csv: .*arXiv 1709.06009"):
        list(script("recht").comparisons())
