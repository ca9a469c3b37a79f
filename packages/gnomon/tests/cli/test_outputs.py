"""Files that verbs write: never their own sources, and refused before the work."""

from __future__ import annotations

import numpy as np
import pytest

TIDY = "algorithm,task,run,score\n" + "".join(
    f"{algorithm},{task},{run},{run + len(algorithm)}\n"
    for algorithm in ("a", "bb")
    for task in ("x", "y", "z")
    for run in range(3)
)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(TIDY)
    for name in ("scores.svg", "scores.html"):
        (tmp_path / name).write_text(TIDY)
    return path


@pytest.mark.parametrize(
    "words",
    [
        "read scores.csv --out scores.csv",
        "read scores.csv --out ./scores.csv",
        "read new=scores.csv --out scores.csv",
        "read . --out scores.csv",
        "read scores.csv --normalize limits.csv --out limits.csv",
        "distill scores.csv --size 2 --model scores.csv",
        "estimate scores.svg --figure scores.svg",
        "rank scores.svg --figure scores.svg",
        "report scores.html --out scores.html",
    ],
)
def test_no_verb_overwrites_its_source(command, source, words):
    (source.parent / "limits.csv").write_text("task,low,high\nx,0,1\ny,0,1\nz,0,1\n")
    before = {path.name: path.read_bytes() for path in source.parent.iterdir()}
    name = words.split()[-1].removeprefix("./")
    said = command(f"gnomon {words}")
    said.assert_refused(f"{name}: expected another file than the source")
    assert {path.name: path.read_bytes() for path in source.parent.iterdir()} == before


def test_a_link_to_the_source_is_the_source(command, source):
    (source.parent / "link.csv").symlink_to(source)
    assert command("gnomon read scores.csv --out link.csv").status == 2
    assert command("gnomon read scores.csv --out other.csv").status == 0


def test_a_figure_in_the_folder_of_the_source_is_drawn_again(command, source):
    (source.parent / "data").mkdir()
    for name in ("a", "b"):
        np.save(source.parent / "data" / f"{name}.npy", np.array([[1.0, 2.0], [2.0, 4.0]]))
    for _ in range(2):
        said = command("gnomon estimate data --figure data/means.svg")
        assert said.status == 0, said.err


def test_latex_and_json_exclude_each_other(command, source):
    said = command("gnomon rank scores.csv --latex --json")
    said.assert_refused("--latex cannot be combined with --json")
