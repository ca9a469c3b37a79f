"""Public data sets: found, fetched, checked."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import gnomon.scores.datasets as datasets
from gnomon.errors import ScoreDataError, UnknownNameError
from gnomon.scores import load_scores
from gnomon.scores.datasets import dataset_file

SHARED = Path(__file__).parents[4] / ".." / "shared" / "data"


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Let the published data set be one file, served from a folder."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.csv").write_text("hello")
    monkeypatch.setattr(datasets, "_SHA256", {"a.csv": hashlib.sha256(b"hello").hexdigest()})
    monkeypatch.setattr(datasets, "_URL", source.as_uri() + "/")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GNOMON_DATA", raising=False)
    return source


def test_a_file_is_fetched_once(small):
    path = dataset_file("a.csv")
    assert path.read_text() == "hello"
    (small / "a.csv").unlink()
    assert dataset_file("a.csv") == path


def test_a_changed_file_is_refused_and_not_kept(small, tmp_path):
    (small / "a.csv").write_text("other")
    with pytest.raises(ScoreDataError, match=r"expected sha256 2cf24dba5fb0\.\.\., found"):
        dataset_file("a.csv")
    assert not list((tmp_path / "cache").rglob("*.csv"))


def test_what_cannot_be_fetched_says_how_to_help(small):
    (small / "a.csv").unlink()
    with pytest.raises(ScoreDataError, match=r"cannot be fetched .* set GNOMON_DATA"):
        dataset_file("a.csv")


def test_a_folder_comes_first(small, monkeypatch, tmp_path):
    monkeypatch.setenv("GNOMON_DATA", str(tmp_path))
    with pytest.raises(ScoreDataError, match="expected a file of atari5"):
        dataset_file("a.csv")
    (tmp_path / "atari5").mkdir()
    (tmp_path / "atari5" / "a.csv").write_text("hello")
    assert dataset_file("a.csv") == tmp_path / "atari5" / "a.csv"
    (tmp_path / "atari5" / "a.csv").write_text("hallo")
    with pytest.raises(ScoreDataError, match="expected sha256"):
        dataset_file("a.csv")


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="unknown data set 'atari'; did you mean 'atari5'"):
        load_scores("atari")


def test_the_atari_scores(monkeypatch):
    if not (SHARED / "atari5").is_dir():
        pytest.skip("the Atari-5 data set is not in the repository")
    monkeypatch.setenv("GNOMON_DATA", str(SHARED))
    table = load_scores("atari5")
    assert (len(table), len(table.algorithms), len(table.tasks)) == (3365, 62, 57)
    assert table.runs("Prior+Duel hs", "alien").size == 2
    assert table.attributes == ("group", "year")
