"""Each verb, called as the command line calls it: what it prints, where, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon import __version__
from gohr.experiments import ExperimentConfig, Run, Trial, run, score
from runs import edit, hashes

CONFIG = """
name = "small"
rules = ["clockwise", "color-match"]
learners = ["uniform", "rule_player"]
trials = 4
episodes = 12
"""


@pytest.fixture
def command(command, tmp_path):
    """The commands in a folder with a small experiment."""
    (tmp_path / "small.toml").write_text(CONFIG)
    return command


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("small")
    (path / "small.toml").write_text(CONFIG)
    run(ExperimentConfig.from_toml(path / "small.toml"), path / "run")
    return path / "run"


def test_without_a_verb_the_help_is_shown(command):
    said = command("gohr")
    for verb in ("demo", "rules", "run", "score", "report"):
        assert f"  {verb} " in said.out + said.err
    assert command("gohr --version") == (0, f"{__version__}\n", "")
    for verb in ("demo", "run", "score", "report", "rules list", "rules show", "captive"):
        said = command(f"gohr {verb} --help")
        assert (said.status, said.err) == (0, "")
        assert ("--json" in said.out) == (verb != "captive")


def test_run_and_run_again(command):
    for _ in range(2):
        said = command("gohr run small.toml --out out")
        assert said == (0, "out: 16 trials (16 done, 0 failed, 0 missing), not running\n", "")
    said = command("gohr run small.toml --out out --json")
    answer = json.loads(said.out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    assert (answer["gnomon"], answer["command"]) == (__version__, "run")
    counts = {"done": 4, "failed": 0, "missing": 0}
    assert said.results[0] == {"learner": "uniform", "rule": "clockwise"} | counts
    assert len(said.results) == 4


def test_a_run_without_a_folder_makes_one_that_is_named_by_the_experiment(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rule.txt").write_text("(*,*,*,*,0)\n")
    played = "--learners uniform --trials 1 --episodes 2"
    said = command(f"gohr run clockwise {played}")
    assert said.out == "clockwise-run: 1 trial (1 done, 0 failed, 0 missing), not running\n"
    assert command(f"gohr run clockwise {played}").out == said.out
    assert command("gohr status clockwise-run").out.endswith(said.out)
    assert "rule.txt-run: 1 trial" in command(f"gohr run mine/rule.txt {played}").out
    said = command(f"gohr run clockwise {played} --seed 1")
    said.assert_refused("clockwise-run: holds another experiment (seed")


def test_a_trial_that_was_damaged_is_played_again_and_said_so(command, tmp_path):
    command("gohr run small.toml --out out")
    before = hashes(tmp_path / "out")
    edit(Run.open(tmp_path / "out"), "UPDATE trials SET wall_time_s = 1 WHERE place = 0")
    for verb in ("score", "report"):
        said = command(f"gohr {verb} out")
        said.assert_refused("gohr: out/run.sqlite: damaged: 1 row damaged, the first is")
        assert said.err.endswith("; repeat the same gohr run to play the lost trials again\n")
    said = command("gohr run small.toml --out out")
    assert said.out == "out: 16 trials (16 done, 0 failed, 0 missing), not running\n"
    assert said.err.startswith("gohr: out/run.sqlite: damaged; 15 undamaged trials kept")
    assert said.err.count("\n") == 1
    assert hashes(tmp_path / "out") == before


def test_a_run_with_failures_says_no(command, monkeypatch):
    def fail(trial: Trial) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Trial, "play", fail)
    said = command("gohr run small.toml --out out")
    assert said.status == 1
    assert said.out == "out: 16 trials (0 done, 16 failed, 0 missing), not running\n"
    lines = said.err.splitlines()
    assert lines[0] == "gohr: failed: uniform on clockwise, 0: RuntimeError: out of luck"
    assert (len(lines), lines[-1]) == (11, "gohr: failed: 6 more")


def test_demo_says_the_medians_and_where_the_report_is(command, monkeypatch, tmp_path):
    def small(name: str) -> ExperimentConfig:
        assert name == "demo"
        return ExperimentConfig.from_toml(tmp_path / "small.toml")

    monkeypatch.setattr("gohr.experiments.load_experiment", small)
    *estimates, page = command("gohr demo -j 1 --json").results
    assert {(e["algorithm"], e["task"]) for e in estimates} == {
        (learner, rule)
        for learner in ("uniform", "rule_player")
        for rule in ("clockwise", "color-match")
    }
    assert page == {"path": "gohr-demo/report/report.html"}
    assert (tmp_path / page["path"]).is_file()
    said = command("gohr demo")
    assert said.out.endswith("report: gohr-demo/report/report.html\n")


def test_ctrl_c_before_the_first_trial_says_so(command, monkeypatch, tmp_path):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "begin", interrupt)
    said = command("gohr run small.toml --out none")
    assert said.status == 130
    assert said.err == "gohr: stopped; no trial was begun, and the same command starts the run\n"
    assert not (tmp_path / "none").exists()


def test_score(command, folder):
    said = command(f"gohr score {folder}")
    assert len([line for line in said.out.splitlines() if "clockwise" in line]) == 8
    assert "tce, errors; experiment small; attempts on empty cells counted as errors" in said.out
    said = command(f"gohr score {folder} --leave-out-empty-cells")
    assert "attempts on empty cells left out, as the captive server does" in said.out
    found = command(f"gohr score {folder} --json").results
    assert found == score(Run.open(folder)).to_records()
    row = command(f"gohr score {folder} --metric errors_to_learn --json").results[0]
    assert (row["algorithm"], row["score"], row["censored"]) == ("uniform", None, True)


def test_scores_go_through_a_file(command, folder):
    assert command(f"gohr score {folder} --out tce.csv").out.endswith("written to tce.csv\n")
    from_folder = command(f"gnomon estimate {folder} --json").results
    assert command("gnomon estimate tce.csv --json").results == from_folder


def test_report(command, folder):
    (result,) = command(f"gohr report {folder} --out page --json").results
    assert Path(result["path"]).read_text().lstrip().lower().startswith("<!doctype html>")


def test_a_name_gives_no_orders_to_the_terminal(command, tmp_path):
    scores = "algorithm,task,run,score\na,t,0,1\na,t,1,2\n"
    (tmp_path / "names.csv").write_text(scores.replace("a,", "\x1b]0;title\x07狐,"))
    said = command("gnomon estimate names.csv --figure f.svg")
    assert said.status == 0
    assert "\\x1b]0;title\\x07狐" in said.out
    assert "\x1b" not in said.out + said.err
    assert "\x1b" not in (tmp_path / "f.svg").read_text()
    result, *_ = command("gnomon estimate names.csv --json").results
    assert result["algorithm"] == "\x1b]0;title\x07狐"
    said = command("gnomon", "read", "no\x1b[2Jfile")
    assert said.err == "gnomon: no\\x1b[2Jfile: expected a file of scores; there is none\n"
    (tmp_path / "evil.txt").write_text("(*,*,*,*,0\x1b[2J\u202e\n")
    said = command("gohr rules show evil.txt")
    assert said.err.splitlines()[1] == "  (*,*,*,*,0\\x1b[2J\\u202e"
    said = command("gohr rules check evil.txt --json")
    assert "\u202e" not in said.out


def test_what_cannot_be_written_is_named_as_it_was_asked_for(command, folder, tmp_path):
    (tmp_path / "there").write_text("a file")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "figures").write_text("a file, and no folder")
    (tmp_path / "tce.csv").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for words, message in (
        ("report {} --out there", "there: expected a folder to write to; it is a file"),
        ("report {} --out there/below", "there/below: Not a directory"),
        ("report {} --out page", "page/figures: File exists"),
        ("report {} --out x.pdf", "x.pdf: expected a folder, or a name that ends in .html or .md"),
        ("score {} --out tce.csv", "tce.csv: expected the name of a file to write; it is a folder"),
    ):
        command(f"gohr {words.format(folder)}").assert_refused(f"gohr: {message}")
        assert sorted(tmp_path.rglob("*")) == before


#: Arguments, and the line on standard error.
BAD_INPUT = {
    "rules show bad.txt": "bad.txt, line 1, column 11: ",
    "rules show clockwis": "unknown rule or file 'clockwis'; did you mean 'clockwise'",
    "rules list --family sequences": "unknown family 'sequences'; did you mean 'sequence'",
    "run bad.toml --out out": "bad.toml: unknown field 'trails'; did you mean 'trials'?",
    "run dmo --out out": "unknown experiment or file 'dmo'; did you mean 'demo'?",
    "run small.toml --out bad.txt": "bad.txt: expected a folder, found a file",
    "run small.toml --out .": ".: not a run folder (run.sqlite is missing), and not empty",
    "run small.toml --out out -j 0": "'-j': 0 is not in the range",
    "report none": "none: expected a run folder, found none",
    "rnu": "rnu",
}


@pytest.mark.parametrize("words", BAD_INPUT)
def test_bad_input_is_told_in_a_line_and_nothing_is_written(command, tmp_path, words):
    (tmp_path / "bad.txt").write_text("(*,*,*,*,0")
    (tmp_path / "bad.toml").write_text(CONFIG.replace("trials", "trails"))
    before = sorted(tmp_path.rglob("*"))
    said = command(f"gohr {words}")
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("gohr: ")
    assert BAD_INPUT[words] in said.err
    # A rule error goes on with the line at fault and a caret; all others are one line.
    assert said.err.count("\n") == (3 if "bad.txt, " in said.err else 1)
    assert sorted(tmp_path.rglob("*")) == before


def test_no_verb_overwrites_its_source(command, folder, tmp_path):
    table = tmp_path / "outcomes.csv"
    table.write_text("a file")
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    inside = str(next(iter(files)))
    for words in (
        f"score {folder} --out {inside}",
        "induction outcomes.csv --save outcomes.csv",
        "induction outcomes.html --out outcomes.html",
    ):
        (tmp_path / "outcomes.html").write_text("a file")
        name = words.split()[-1]
        refused = command(f"gohr {words}")
        refused.assert_refused(f"{name}: expected another file than the source")
    assert table.read_text() == "a file"
    assert files == {path: path.read_bytes() for path in files}
