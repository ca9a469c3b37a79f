"""Arrays and lists of runs, as rliable has them."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import ScoreTable, read_scores
from score_files import written


def test_the_same_scores_in_every_shape(tmp_path):
    scores = {"dqn": np.array([[1.0, 2.0], [3.0, np.nan]]), "spr": np.array([[5.0, 6.0]])}
    by_task = {"dqn": {"pong": [1, 3], "chess": [2, None]}, "spr": {"pong": [5], "chess": [6]}}
    np.savez(tmp_path / "scores.npz", **scores, tasks=["pong", "chess"])
    written(tmp_path / "arrays.json", {name: x.tolist() for name, x in scores.items()})
    written(tmp_path / "lists.json", by_task)
    for name, tasks in by_task.items():
        written(tmp_path / "folder" / f"{name}.json", tasks)
    expected = ScoreTable.from_arrays(scores, tasks=["pong", "chess"])
    for name in ("scores.npz", "lists.json", "folder"):
        found = read_scores(tmp_path / name)
        for algorithm in expected.algorithms:
            for task in expected.tasks:
                runs = found.runs(algorithm, task)
                assert runs.tolist() == expected.runs(algorithm, task).tolist(), (name, algorithm)
    unnamed = read_scores(tmp_path / "arrays.json", higher_is_better=False, metric="regret")
    assert (unnamed.tasks, unnamed.metric) == (("task_0", "task_1"), "regret")
    assert not unnamed.higher_is_better


def test_faults_are_told_in_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    for name, content, said in [
        ("text.json", {"dqn": {"pong": ["one"]}}, "found neither for dqn"),
        ("ragged.json", {"dqn": [[1, 2], [3]]}, "dqn: expected an array of numbers (runs, tasks)"),
    ]:
        path = written(tmp_path / name, content)
        with pytest.raises(ScoreDataError) as error:
            read_scores(path, format="arrays")
        assert str(error.value).startswith(f"{path}: "), name
        assert said in str(error.value), name
    with pytest.raises(ScoreDataError, match=r"files named ALGORITHM\.json or \.npz; found none"):
        read_scores(tmp_path / "empty", format="arrays")
    np.savez(tmp_path / "objects.npz", dqn=np.array([None, "x"], dtype=object))
    with pytest.raises(
        ScoreDataError, match=r"objects\.npz: expected an .npz file of arrays of numbers"
    ):
        read_scores(tmp_path / "objects.npz")
