"""Learners that are not Gnomon's: named by module and class, given as such, or registered."""

import hashlib
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from pydantic import Field

from gohr import BoardSpec
from gohr.errors import ConfigError, RunFolderError
from gohr.experiments import ExperimentConfig, Run, run
from gohr.learners import (
    Learner,
    available_learners,
    is_shown_the_rule,
    learner_kinds,
    make_learner,
)

SOURCE = '''
"""Learners for a test."""
import time
from dataclasses import dataclass
import numpy as np
from gohr.learners.base import Learner

@dataclass
class Patient(Learner):
    """Try the buckets in turn.

    Parameters
    ----------
    first : int
        The bucket to begin with.
    """
    first: int = 0

    def __post_init__(self):
        self.bucket = self.first

    def act(self, observation):
        actions = np.flatnonzero(observation.action_mask)
        return self.rng.choice(actions[actions % 4 == self.bucket])

    def observe(self, transition):
        self.bucket = (self.bucket + 1) % 4

@dataclass
class Faulty(Patient):
    how: str = "raise"

    def act(self, observation):
        match self.how:
            case "raise": raise RuntimeError("no idea\\nat all")
            case "hang": time.sleep(60)
            case "nan": return float("nan")
            case "range": return 144
            case "half": return 1.5
            case "nothing": return None
            case "exit": raise SystemExit(3)
        return super().act(observation)

class Plain(Learner):
    """A class that is no dataclass."""
    reveal = True
    def __init__(self, board_spec, *, rng, greed=0.5, needed: str):
        self.rng = rng
    def act(self, observation):
        return int(np.flatnonzero(observation.permitted)[0])
    def observe(self, transition):
        pass

class Half(Learner):
    def act(self, observation):
        return 0
'''


@dataclass
class Here(Learner):
    """A learner of this file."""

    bucket: Annotated[int, Field(ge=0, le=3)] = 0

    def act(self, observation):
        actions = np.flatnonzero(observation.action_mask)
        return self.rng.choice(actions[actions % 4 == self.bucket])

    def observe(self, transition):
        self.bucket = (self.bucket + 1) % 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a module, which this process and others find as the current one."""
    place, before = tmp_path_factory.mktemp("own"), Path.cwd()
    (place / "own_for_test.py").write_text(textwrap.dedent(SOURCE))
    os.chdir(place)
    yield place
    os.chdir(before)


def config(*learners, rules=("clockwise",), trials=1, **more):
    return ExperimentConfig("own", rules, learners, trials=trials, episodes=2, **more)


def gnomon(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", "gohr", *map(str, words)], capture_output=True, text=True, cwd=cwd
    )


@pytest.mark.full
def test_a_module_of_the_current_directory_plays_in_worker_processes_as_here(folder, tmp_path):
    table = {"kind": "own_for_test:Patient", "first": 2}
    mine = config("own_for_test:Patient", table | {"name": "second"}, trials=2)
    one = run(mine, tmp_path / "one")
    two = run(mine, tmp_path / "two", workers=2)
    assert {x.name for x in mine.learners} == {"Patient", "second"}
    hashes = [[trial.attempts_hash for trial in x.trials()] for x in (one, two)]
    assert hashes[0] == hashes[1]
    assert None not in hashes[0]


@pytest.mark.full
def test_each_fault_ends_its_trial_with_a_line_that_names_learner_rule_and_trial(folder, tmp_path):
    found = "expected an action from 0 to 143, found"
    expected = {
        "raise": "RuntimeError: no idea",
        "nan": f"ValueError: {found} nan",
        "range": f"ValueError: {found} 144",
        "half": f"ValueError: {found} 1.5",
        "nothing": f"ValueError: {found} None",
        "exit": "SystemExit: 3",
        "hang": "TimeLimit: not done after 3 s",
    }
    faulty = [{"kind": "own_for_test:Faulty", "name": how, "how": how} for how in expected]
    here = run(config(*faulty[:-1], "uniform"), tmp_path / "here")
    limited = run(config(*faulty[-2:], "uniform", trial_timeout_s=3), tmp_path / "limited")
    trials = [*here.trials(), *limited.trials()]
    assert {trial.learner: trial.error for trial in trials} == {**expected, "uniform": None}


@pytest.mark.full
def test_a_run_is_resumed_verified_and_reported_with_the_version_of_its_learner(folder, tmp_path):
    (folder / "mine.toml").write_text(
        'name = "mine"\nrules = ["clockwise"]\ntrials = 2\nepisodes = 3\n'
        'learners = ["uniform", { kind = "own_for_test:Patient", first = 1 }]\n'
    )
    out = tmp_path / "run"
    for _ in range(2):
        ran = gnomon("run", "mine.toml", "--out", out, cwd=folder)
        assert ran.returncode == 0, ran.stderr
        assert "(4 done, 0 failed, 0 missing)" in ran.stdout
    (entry,) = [x for x in Run.open(out).config.learners if x.name == "Patient"]
    assert entry.params["first"] == 1
    digest = hashlib.sha256((folder / "own_for_test.py").read_bytes()).hexdigest()
    assert entry.version == f"sha256:{digest[:16]}"
    elsewhere = tmp_path / "elsewhere"  # where the module is not: reading a run needs no learner
    elsewhere.mkdir()
    for words in (("verify", out), ("report", out, "--out", elsewhere / "report")):
        said = gnomon(*words, cwd=elsewhere)
        assert said.returncode == 0, said.stderr
    assert any("Patient" in page.read_text() for page in (elsewhere / "report").glob("*.html"))


def test_a_learner_says_whether_it_is_shown_the_rule(folder):
    assert is_shown_the_rule(config({"kind": "own_for_test:Plain", "needed": "x"}).learners[0].kind)
    assert not is_shown_the_rule("own_for_test:Patient")
    for kind in learner_kinds():
        assert is_shown_the_rule(kind.kind) == kind.reveal


def test_attempts_of_two_versions_never_stand_in_one_run(folder, tmp_path):
    mine = config("own_for_test:Patient")
    run(mine, tmp_path / "run")
    (entry,) = mine.learners
    record = mine.to_record() | {"learners": [entry.to_record() | {"version": "sha256:0"}]}
    with pytest.raises(ConfigError, match="expected version sha256:0, found sha256"):
        ExperimentConfig.from_record(record)
    other = ExperimentConfig.of_run(record)
    with pytest.raises(RunFolderError, match="'Patient': not the settings or version expected"):
        run(other, tmp_path / "run")


def test_a_class_and_an_instance_are_what_their_settings_say():
    instance = Here(rng=np.random.default_rng(0), bucket=2)
    given = config(Here, {"kind": f"{__name__}:Here", "name": "two", "bucket": 3})
    assert [x.params for x in given.learners] == [{"bucket": 0}, {"bucket": 3}]
    (entry,) = config(instance).learners
    assert (entry.name, entry.params) == ("Here", {"bucket": 2})
    assert isinstance(make_learner(Here, BoardSpec(), rng=np.random.default_rng(0)), Here)
    with pytest.raises(ConfigError, match="bucket: expected a whole number from 0 to 3, found 7"):
        config({"kind": f"{__name__}:Here", "bucket": 7})

    class Local(Here):
        pass

    with pytest.raises(ConfigError, match="Local: expected a class at the top of a module"):
        config(Local)


def test_a_plain_class_has_settings_too_and_an_instance_must_keep_them(folder):
    import own_for_test

    (kind,) = learner_kinds("own_for_test:Plain")
    assert {x.name: (x.type, x.default) for x in kind.settings} == {
        "greed": (float, 0.5),
        "needed": (str, None),
    }
    with pytest.raises(ConfigError, match="needed: expected a text, and found nothing"):
        config("own_for_test:Plain")
    (entry,) = config({"kind": "own_for_test:Plain", "needed": "x"}).learners
    assert entry.reveal
    assert config({"kind": "own_for_test:Plain", "needed": "x"}).revealed_to == ["Plain"]
    plain = own_for_test.Plain(BoardSpec(), rng=np.random.default_rng(0), needed="x")
    with pytest.raises(ConfigError, match="to keep its setting 'greed' as an attribute"):
        config(plain)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("own_for_tset:Patient", "no module 'own_for_tset', neither in the current directory nor"),
        ("own_for_test:Pateint", "unknown class 'Pateint'; did you mean 'Patient' or 'Plain'?"),
        ("own_for_test:np", "expected a subclass of gohr.Learner with act and observe, found a"),
        ("own_for_test:Half", "found a class without observe"),
        ("own_broken:X", "own_broken cannot be loaded: ZeroDivisionError"),
        ("own_odd:X", "setting 'layers': expected a bool, int, float, str or a Literal of words"),
        ("own_odd:Y", "setting 'name': this name has another meaning in config files"),
        ("own_odd:Z", "cannot be created: KeyError: 'z'"),
    ],
)
def test_what_is_no_learner_is_told(folder, kind, message):
    (folder / "own_broken.py").write_text("1 / 0\n")
    (folder / "own_odd.py").write_text(
        "from own_for_test import Patient\n"
        "class X(Patient):\n    def __init__(self, board_spec, *, rng, layers=(3,)): pass\n"
        "class Y(Patient):\n    def __init__(self, board_spec, *, rng, name='y'): pass\n"
        "class Z(Patient):\n    def __init__(self, board_spec, *, rng): raise KeyError('z')\n"
    )
    with pytest.raises(ConfigError) as caught:
        config(kind)
    assert str(caught.value).startswith(f"learner {kind!r}: ")
    assert message in str(caught.value)


def test_the_version_of_an_own_learner_is_that_of_its_package(tmp_path, monkeypatch):
    info = tmp_path / "bandits-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bandits\nVersion: 1.5\n")
    (info / "top_level.txt").write_text("bandits_of_test\n")
    (info / "RECORD").write_text("")
    (tmp_path / "bandits_of_test.py").write_text(textwrap.dedent(SOURCE))
    monkeypatch.syspath_prepend(tmp_path)
    [kind] = learner_kinds("bandits_of_test:Patient")
    assert kind.version == "bandits 1.5"


def test_asking_who_saw_the_rule_imports_nothing(tmp_path, monkeypatch):
    (tmp_path / "never_imported.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert not is_shown_the_rule("never_imported:X")
    assert "never_imported" not in sys.modules


def test_the_list_shows_all_and_one_with_its_settings():
    kinds = learner_kinds()
    assert [kind.kind for kind in kinds] == list(available_learners())
    assert all(field.meaning for kind in kinds for field in kind.settings)
    assert all(kind.description.endswith(".") for kind in kinds)
    shown = str(learner_kinds("reinforce"))
    assert "a number above 0 and at most 1" in shown
    assert "Step size, above 0." in shown
