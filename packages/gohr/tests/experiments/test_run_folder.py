"""The run folder: what is in it, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import GnomonError, UnknownNameError
from gohr.errors import RunFolderError
from gohr.experiments import ExperimentConfig, Run, run, trials_of
from gohr.learners import chance_of_success
from runs import forge_experiment, n_played, set_experiment

CONFIG = ExperimentConfig(
    "small", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=2, episodes=4
)


@pytest.fixture
def folder(tmp_path: Path) -> Run:
    return run(CONFIG, tmp_path / "run")


def contents(path: Path) -> dict[str, bytes]:
    return {str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def refused(path: Path, *, config: ExperimentConfig = CONFIG) -> str:
    """Return what opening says, and see that running says it too and changes nothing."""
    before = contents(path)
    with pytest.raises(RunFolderError) as error:
        run(config, path)
    assert contents(path) == before
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_what_is_in_it(folder):
    assert list(contents(folder.path)) == ["run.sqlite"]
    experiment = folder.store.experiment()
    assert experiment["format"] == 5
    assert experiment["config_hash"] == CONFIG.hash
    assert experiment["config"]["rules"][0]["text"] == CONFIG.rules[0].text
    assert "numpy" in folder.software


def test_it_is_read_back(folder):
    again = Run.open(folder.path)
    assert again.config == CONFIG
    trials = again.trials()
    assert [(t.rule, t.learner, t.trial) for t in trials][:3] == [
        ("clockwise", "uniform", 0),
        ("clockwise", "uniform", 1),
        ("clockwise", "rule_player", 0),
    ]
    assert {t.key for t in trials} == {t.key for t in trials_of(CONFIG)}
    played = {t.key: t for t in trials_of(CONFIG)}
    for trial in trials:
        log, expected = again.log(trial), played[trial.key].play()
        assert trial.wall_time_s > 0
        np.testing.assert_array_equal(log.actions, expected.actions)
        np.testing.assert_array_equal(log.boards, expected.boards)


def test_all_attempts_as_one_table(folder):
    table = folder.attempts()
    assert list(table)[:4] == ["learner", "rule", "trial", "episode"]
    assert {len(column) for column in table.values()} == {
        sum(len(folder.log(t).actions) for t in folder.trials())
    }
    some = folder.attempts(learner="uniform", rule="clockwise")
    wanted = (table["learner"] == "uniform") & (table["rule"] == "clockwise")
    assert 0 < wanted.sum() < len(wanted)
    for name, column in some.items():
        np.testing.assert_array_equal(column, table[name][wanted])
    rule = CONFIG.rules[0].rule_set  # of the first two trials, which are those of uniform
    expected = [chance_of_success(rule, folder.log(t)) for t in folder.trials()[:2]]
    np.testing.assert_array_equal(some["p0"], np.concatenate(expected))
    with pytest.raises(UnknownNameError, match=r"^unknown learner 'uniorm'; did you mean"):
        folder.attempts(learner="uniorm")


def test_a_folder_of_another_experiment(folder):
    more = ExperimentConfig(
        "small", ["clockwise", "color-match"], ["uniform", "rule_player"], trials=3, episodes=4
    )
    told = ": holds another experiment (trials: expected 3, found 2); choose another folder"
    assert refused(folder.path, config=more) == told
    player = {"kind": "tabular_q", "name": "uniform"}
    other = ExperimentConfig(
        "small", ["clockwise", "color-match"], [player, "rule_player"], trials=2, episodes=4
    )
    told = "(learner 'uniform': not the settings or version expected)"
    assert told in refused(folder.path, config=other)
    assert repr(folder) == f"Run: {folder.path}, experiment 'small' of 8 trials"


def rewrite(folder: Run, **changes: object) -> None:
    set_experiment(folder, folder.store.experiment() | changes)


def test_a_folder_of_another_format(folder):
    rewrite(folder, format=7, gnomon="9.9")
    message = refused(folder.path)
    assert message.startswith(": a run folder of format 7, begun by gnomon 9.9; gnomon ")
    assert message.endswith("reads format 5")


def test_a_folder_of_another_version_is_read_but_not_gone_on_with(folder):
    rewrite(folder, gnomon="0.0.1")
    assert len(Run.open(folder.path).trials()) == 8
    message = refused(folder.path)
    assert message.startswith(": begun by gnomon 0.0.1; this is ")


def test_a_config_that_was_edited(folder):
    for edit in (
        lambda config: config.update(trials=5),
        lambda config: config.update(trials="many"),
        lambda config: config.pop("rules"),
    ):
        forge_experiment(folder, edit, hide=False)
        assert refused(folder.path) == "/run.sqlite: the experiment was changed after the run began"


def test_the_attempts_as_a_parquet_file(folder, tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    folder.write_parquet(tmp_path / "attempts.parquet")
    found = pq.read_table(tmp_path / "attempts.parquet").to_pydict()
    assert found == {name: column.tolist() for name, column in folder.attempts().items()}
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(GnomonError, match=r"pip install 'gohr\[parquet\]'$"):
        folder.write_parquet(tmp_path / "attempts.parquet")


def test_a_folder_of_something_else(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    message = refused(tmp_path)
    assert message == ": not a run folder (run.sqlite is missing), and not empty"
    with pytest.raises(
        RunFolderError, match=r"^\S+thesis.tex: expected a run folder, found a file"
    ):
        Run.open(tmp_path / "thesis.tex")
    with pytest.raises(RunFolderError, match=r"thesis.tex: expected a folder, found a file$"):
        run(CONFIG, tmp_path / "thesis.tex")


def test_an_empty_folder_will_do(tmp_path):
    with pytest.raises(RunFolderError, match=r": not a run folder \(run.sqlite is missing\)$"):
        Run.open(tmp_path)
    assert n_played(CONFIG, tmp_path) == 8


def test_two_cannot_write_at_once(folder):
    with folder.writing(), pytest.raises(RunFolderError, match=r"another run is writing here$"):
        run(CONFIG, folder.path)


def test_a_folder_is_begun_once(folder):
    with pytest.raises(RunFolderError, match="already a run folder; open it"):
        Run.create(folder.path, CONFIG)


@pytest.mark.full
def test_of_many_that_begin_at_once_one_plays(tmp_path):
    """Real processes: each plays, or skips what another has played, or says that one is there."""
    (tmp_path / "small.toml").write_text(
        'name = "small"\nrules = ["clockwise"]\nlearners = ["uniform"]\ntrials = 40\n'
    )
    command = [sys.executable, "-m", "gohr", "run", "small.toml", "--out", "run"]
    processes = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ends = [(*(text.decode() for text in p.communicate()), p.returncode) for p in processes]
    refused_here = ("", "gohr: run: another run is writing here\n", 2)
    assert all(end == refused_here or end[2] == 0 for end in ends), ends
    done = [out for out, _, status in ends if status == 0]
    assert done
    assert all("(40 done, 0 failed, 0 missing)" in out for out in done)
    assert len(Run.open(tmp_path / "run").trials()) == 40


def test_what_a_process_left_that_was_killed_at_the_beginning(tmp_path):
    (tmp_path / ".run.sqlite.new").write_bytes(b"half")
    assert n_played(CONFIG, tmp_path) == 8
    assert list(contents(tmp_path)) == ["run.sqlite"]
