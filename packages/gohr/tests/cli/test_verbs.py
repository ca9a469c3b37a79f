"""Each verb, called as the command line calls it: what it prints, where, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gnomon import __version__
from gohr.experiments import ExperimentConfig, Run, run, score
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


def answer_of(said, command: str) -> dict:
    """Return the JSON object on standard output, once its envelope is right."""
    assert said.status == 0, said.err
    answer = json.loads(said.out)
    assert list(answer) == ["gnomon", "command", "results", "warnings"]
    assert (answer["gnomon"], answer["command"]) == (__version__, command)
    return answer


def test_no_verb_shows_the_help(command):
    said = command("gohr")
    for verb in ("demo", "rules", "run", "score", "report"):
        assert f"  {verb} " in said.out + said.err


def test_version(command):
    assert command("gohr", "--version") == (0, f"{__version__}\n", "")


def test_every_verb_says_what_it_does(command):
    for verb in ("demo", "run", "score", "report", "rules list", "rules show"):
        said = command("gohr", *verb.split(), "--help")
        assert said.status == 0
        assert "--json" in said.out


def test_run_and_run_again(command):
    said = command("gohr", "run", "small.toml", "--out", "out")
    assert said == (0, "out: 16 trials (16 done, 0 failed, 0 missing), not running\n", "")
    said = command("gohr", "run", "small.toml", "--out", "out")
    assert said == (0, "out: 16 trials (16 done, 0 failed, 0 missing), not running\n", "")
    answer = answer_of(command("gohr", "run", "small.toml", "--out", "out", "--json"), "run")
    assert answer["results"][0] == {
        "learner": "uniform",
        "rule": "clockwise",
        "done": 4,
        "failed": 0,
        "missing": 0,
    }
    assert len(answer["results"]) == 4


def test_one_trial_is_said_to_be_one(command):
    arguments = (
        "gohr",
        "run",
        "clockwise",
        "--learners",
        "uniform",
        "--trials",
        "1",
        "--episodes",
        "2",
    )
    said = command(*arguments, "--out", "out")
    assert said.out == "out: 1 trial (1 done, 0 failed, 0 missing), not running\n"
    assert "out: 1 trial (1 done" in command("gohr", "status", "out").out


def test_a_run_without_a_folder_makes_one_that_is_named_by_the_experiment(command, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "rule.txt").write_text("(*,*,*,*,0)\n")
    played = ("--learners", "uniform", "--trials", "1", "--episodes", "2")
    said = command("gohr", "run", "clockwise", *played)
    assert said.out == "clockwise-run: 1 trial (1 done, 0 failed, 0 missing), not running\n"
    assert command("gohr", "run", "clockwise", *played).out == said.out
    assert "rule.txt-run: 1 trial" in command("gohr", "run", "mine/rule.txt", *played).out
    said = command("gohr", "run", "clockwise", *played, "--seed", "1")
    assert (said.status, "clockwise-run: holds another experiment (seed" in said.err) == (2, True)


def test_a_trial_that_was_damaged_is_played_again_and_said_so(command, tmp_path):
    command("gohr", "run", "small.toml", "--out", "out")
    before = hashes(tmp_path / "out")
    edit(Run.open(tmp_path / "out"), "UPDATE trials SET n_attempts = 1 WHERE place = 0")
    for verb in ("score", "report"):
        said = command("gohr", verb, "out")
        assert (said.status, said.out) == (2, "")
        assert said.err.startswith("gohr: out/run.sqlite: damaged: 1 row damaged, the first is")
        assert said.err.endswith("; repeat the same gohr run to play the lost trials again\n")
    said = command("gohr", "run", "small.toml", "--out", "out")
    assert (said.status, said.out) == (
        0,
        "out: 16 trials (16 done, 0 failed, 0 missing), not running\n",
    )
    assert said.err.startswith("gohr: out/run.sqlite: damaged; 15 undamaged trials kept")
    assert said.err.count("\n") == 1
    assert hashes(tmp_path / "out") == before


def test_a_run_with_failures_says_no(command, monkeypatch):
    from gohr.experiments import Trial

    def fail(trial: Trial) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Trial, "play", fail)
    said = command("gohr", "run", "small.toml", "--out", "out")
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
    *estimates, page = answer_of(command("gohr", "demo", "-j", "1", "--json"), "demo")["results"]
    assert {(e["algorithm"], e["task"]) for e in estimates} == {
        (learner, rule)
        for learner in ("uniform", "rule_player")
        for rule in ("clockwise", "color-match")
    }
    assert page == {"path": "gohr-demo/report/report.html"}
    assert (tmp_path / page["path"]).is_file()
    said = command("gohr", "demo")
    assert said.out.endswith("report: gohr-demo/report/report.html\n")


def test_ctrl_c_keeps_what_was_played(command, monkeypatch):
    from gohr.experiments import Trial

    def interrupt(trial: Trial) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Trial, "play", interrupt)
    said = command("gohr", "run", "small.toml", "--out", "out")
    assert said.status == 130
    assert said.err == (
        "gohr: stopped; the attempts so far are in out, and the same command resumes the run\n"
    )


def test_ctrl_c_before_the_first_trial_says_so(command, monkeypatch, tmp_path):
    from gohr.experiments import Run

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "begin", interrupt)
    said = command("gohr", "run", "small.toml", "--out", "none")
    assert said.status == 130
    assert said.err == "gohr: stopped; no trial was begun, and the same command starts the run\n"
    assert not (tmp_path / "none").exists()


def test_score(command, folder):
    said = command("gohr", "score", str(folder))
    assert said.status == 0
    assert len([line for line in said.out.splitlines() if "clockwise" in line]) == 8
    assert "tce, errors; experiment small; attempts on empty cells counted as errors" in said.out
    said = command("gohr", "score", str(folder), "--leave-out-empty-cells")
    assert "attempts on empty cells left out, as the captive server does" in said.out
    answer = answer_of(command("gohr", "score", str(folder), "--json"), "score")
    table = score(_open(folder))
    assert answer["results"] == table.to_records()


def test_score_of_the_unlearned_is_null(command, folder):
    answer = answer_of(
        command("gohr", "score", str(folder), "--metric", "errors_to_learn", "--json"), "score"
    )
    row = answer["results"][0]
    assert (row["algorithm"], row["score"], row["censored"]) == ("uniform", None, True)


def test_scores_go_through_a_file(command, folder):
    said = command("gohr", "score", str(folder), "--out", "tce.csv")
    assert said.status == 0
    assert said.out.endswith("written to tce.csv\n")
    from_folder = answer_of(command("gnomon", "estimate", str(folder), "--json"), "estimate")
    from_file = answer_of(command("gnomon", "estimate", "tce.csv", "--json"), "estimate")
    assert from_file == from_folder


def test_what_cannot_be_estimated_is_null_with_a_reason(command, folder):
    arguments = (
        "gnomon",
        "estimate",
        str(folder),
        "--score",
        "errors_to_learn",
        "--metric",
        "mean",
    )
    answer = answer_of(command(*arguments, "--json"), "estimate")
    assert answer["results"][0]["value"] is None
    assert any("uniform" in text and "not estimable" in text for text in answer["warnings"])
    said = command(*arguments)
    assert said.status == 0
    assert "gnomon: mean of uniform: not estimable" in said.err
    assert "Warning" not in said.err


def test_report(command, folder):
    (result,) = answer_of(
        command("gohr", "report", str(folder), "--out", "page", "--json"), "report"
    )["results"]
    assert Path(result["path"]).read_text().lstrip().lower().startswith("<!doctype html>")


def test_a_name_gives_no_orders_to_the_terminal(command, tmp_path):
    (tmp_path / "names.csv").write_text(SCORES.replace("a,", "\x1b]0;title\x07狐,"))
    said = command("gnomon", "estimate", "names.csv", "--figure", "f.svg")
    assert said.status == 0
    assert "\\x1b]0;title\\x07狐" in said.out
    assert "\x1b" not in said.out + said.err
    assert "\x1b" not in (tmp_path / "f.svg").read_text()
    (result, *_) = answer_of(command("gnomon", "estimate", "names.csv", "--json"), "estimate")[
        "results"
    ]
    assert result["algorithm"] == "\x1b]0;title\x07狐"
    said = command("gnomon", "read", "no\x1b[2Jfile")
    assert said.err == "gnomon: no\\x1b[2Jfile: expected a file of scores; there is none\n"
    (tmp_path / "evil.txt").write_text("(*,*,*,*,0\x1b[2J\u202e\n")
    said = command("gohr", "rules", "show", "evil.txt")
    assert said.err.splitlines()[1] == "  (*,*,*,*,0\\x1b[2J\\u202e"
    said = command("gohr", "rules", "check", "evil.txt", "--json")
    assert "\u202e" not in said.out


def test_what_cannot_be_written_is_named_as_it_was_asked_for(command, folder, tmp_path):
    (tmp_path / "there").write_text("a file")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "figures").write_text("a file, and no folder")
    (tmp_path / "tce.csv").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for arguments, message in (
        (("gohr", "report", str(folder), "--out", "there"), "there: File exists"),
        (("gohr", "report", str(folder), "--out", "there/below"), "there/below: Not a directory"),
        (("gohr", "report", str(folder), "--out", "page"), "page/figures: File exists"),
        (
            ("gohr", "report", str(folder), "--out", "x.pdf"),
            "x.pdf: expected a folder, or a name that ends in .html or .md; --also pdf also "
            "writes each figure as PDF",
        ),
        (
            ("gohr", "score", str(folder), "--out", "tce.csv"),
            "tce.csv: expected the name of a file to write; it is a folder",
        ),
    ):
        assert command(*arguments) == (2, "", f"gohr: {message}\n")
        assert sorted(tmp_path.rglob("*")) == before


def _open(folder: Path):

    return Run.open(folder)


SCORES = "algorithm,task,run,score\na,t,0,1\na,t,1,2\n"

BAD_INPUT = [
    # what is in bad.txt, the arguments, the one line on standard error
    (
        "(*,*,*,*,0",
        "gohr rules show bad.txt",
        "bad.txt, line 1, column 11: ",
    ),
    ("", "gohr rules show clockwis", "unknown rule or file 'clockwis'; did you mean 'clockwise'"),
    (
        "",
        "gohr rules list --family sequences",
        "unknown family 'sequences'; did you mean 'sequence'",
    ),
    (
        CONFIG.replace("trials", "trails"),
        "gohr run bad.toml --out out",
        "bad.toml: unknown field 'trails'; did you mean 'trials'?\n",
    ),
    (
        CONFIG.replace("4", "'four'"),
        "gohr run bad.toml --out out",
        "bad.toml: field 'trials': input should be a valid integer; found 'four'\n",
    ),
    (
        CONFIG.replace("uniform", "unifrom"),
        "gohr run bad.toml --out out",
        "bad.toml: unknown learner 'unifrom'; did you mean 'uniform'?\n",
    ),
    ("", "gohr run dmo --out out", "unknown experiment or file 'dmo'; did you mean 'demo'?\n"),
    ("", "gohr run small.toml --out bad.txt", "bad.txt: expected a folder, found a file\n"),
    (
        "",
        "gohr run small.toml --out .",
        ".: not a run folder (run.sqlite is missing), and not empty\n",
    ),
    ("", "gnomon read none", "none: expected a file of scores; there is none\n"),
    (
        "",
        "gnomon read .",
        ".: expected scores in a known format (arrays, board, dataset, evaluations, ",
    ),
    ("", "gohr report none", "none: expected a run folder, found none\n"),
    ("", "gnomon report bad.csv", "bad.csv: expected a table with a header line, found none\n"),
    (
        SCORES.replace("1,2", "1,two"),
        "gnomon estimate bad.csv",
        "bad.csv, line 3, column 'score': expected a number, found 'two'\n",
    ),
    (SCORES + "a,t\n", "gnomon estimate bad.csv", "bad.csv, line 4: expected 4 fields, found 2\n"),
    (
        "algorithm,task,run,score\n",
        "gnomon read bad.csv",
        "bad.csv: expected rows of scores, found none\n",
    ),
    ("", "gnomon estimate folder.csv", "folder.csv: expected scores in a known format (arrays, "),
    (
        CONFIG.replace("4", "2000000"),
        "gohr run bad.toml --out out",
        "bad.toml: field 'trials': input should be less than or equal to 1000000; found 2000000\n",
    ),
    (SCORES, "gnomon estimate bad.csv --metric iqn", "unknown metric 'iqn'; did you mean 'iqm'"),
    (
        SCORES,
        "gnomon read bad.csv --out scores.doc",
        "scores.doc: expected a name that ends in .csv",
    ),
    (SCORES, "gnomon read bad.csv --out none/x.csv", "none: expected a folder to write to;"),
]


@pytest.mark.parametrize(("text", "arguments", "message"), BAD_INPUT)
def test_bad_input_is_told_in_a_line_and_nothing_is_written(
    command, tmp_path, text, arguments, message
):
    for name in ("bad.txt", "bad.toml", "bad.csv"):
        (tmp_path / name).write_text(text)
    (tmp_path / "folder.csv").mkdir()
    before = sorted(tmp_path.rglob("*"))
    said = command(*arguments.split())
    assert said.status == 2
    assert said.out == ""
    assert said.err.startswith(f"{arguments.split()[0]}: {message}")
    # A rule error goes on with the line at fault and a caret; all others are one line.
    assert said.err.count("\n") == (3 if "column 11" in message else 1)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "gnomon estimate small.toml --gamma nan",
            "'--gamma': expected a finite number, found nan",
        ),
        (
            "gnomon estimate small.toml --gamma inf",
            "'--gamma': expected a finite number, found inf",
        ),
        ("gnomon estimate small.toml --level 1.5", "expected a number between 0 and 1, found 1.5"),
        (
            "gnomon estimate small.toml --resamples 0",
            "'--resamples': expected at least 25 resamples, found 0",
        ),
        ("gnomon estimate small.toml --where suite", "expected COLUMN=VALUE, found 'suite'"),
        ("gohr run small.toml --out out -j 0", "'-j': 0 is not in the range"),
        ("gohr rnu", "rnu"),
    ],
)
def test_misuse_is_status_2(command, tmp_path, arguments, message):
    said = command(*arguments.split())
    assert (said.status, said.out) == (2, "")
    assert message in said.err
    assert not (tmp_path / "out").exists()


def test_captive_shows_its_help(command):
    said = command("gohr", "captive", "-h")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith("Usage: gohr captive [OPTIONS]")


def test_a_rule_that_is_stuck_as_dealt_is_warned_of(command, tmp_path):
    (tmp_path / "typo.toml").write_text(
        'name = "typo"\nrules = ["clockwise", {name="typo", text="(*,sqare,*,*,1)"}]\n'
        'learners = ["uniform"]\ntrials = 2\nepisodes = 3\n'
    )
    warning = "gohr: rule typo: no piece can be moved on 3 of 3 boards tested, as they are dealt; "
    for arguments in (
        ("run", "typo.toml", "--out", "out"),
        ("score", "out"),
        ("elements", "out", "--baseline", "clockwise"),
    ):
        said = command("gohr", *arguments)
        assert said.status == 0
        assert said.err.count(warning) == 1


def test_no_verb_overwrites_its_source(command, folder, tmp_path):
    table = tmp_path / "outcomes.csv"
    table.write_text("a file")
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    inside = str(next(iter(files)))
    for arguments in (
        ("score", str(folder), "--out", inside),
        ("induction", "outcomes.csv", "--save", "outcomes.csv"),
        ("induction", "outcomes.html", "--out", "outcomes.html"),
    ):
        (tmp_path / "outcomes.html").write_text("a file")
        said = command("gohr", *arguments)
        assert said.status == 2
        assert f"{arguments[-1]}: expected another file than the source" in said.err
    assert table.read_text() == "a file"
    assert files == {path: path.read_bytes() for path in files}
