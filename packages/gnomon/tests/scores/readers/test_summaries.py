"""Tables of means and standard deviations: what is read, and where each fault is told to be."""

from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import read_scores
from score_files import read_quietly, written

MACHADO = Path(__file__).parents[5] / ".." / "shared/data/scores/machado2018_mean_std.csv"


@pytest.mark.skipif(not MACHADO.is_file(), reason="the published scores are not in the repository")
def test_summaries_of_the_essay():
    late = read_scores(MACHADO, where={"frames": "200000000"})
    assert late.algorithms == ("Sarsa(lambda)+Blob-PROST", "DQN")
    assert late.run_counts.shape == (2, 60)
    assert set(np.unique(late.run_counts)) == {5, 24}


def test_summaries_with_a_fault(tmp_path):
    head = "algorithm,task,runs,mean,std\n"
    for rows, message in {
        "a,t,3,1,1\na,t,3,2,1\n": "line 3, column 'task': expected one row for each algorithm",
        "a,t,3,1,-1\n": "line 2, column 'std': expected a number from 0, found -1",
        "a,t,0,1,1\n": "line 2, column 'runs': expected a number from 1, found 0",
        "a,t,2.5,1,1\n": "line 2, column 'runs': expected a whole number of runs",
        "a,t,9e9,1,1\n": "expected a whole number of runs up to 1,000,000, found 9e",
        "a,t,3,,1\n": "line 2, column 'mean': expected a number, found nothing",
        # Twelve thirds, or a hundred and twenty-three? It is not for us to guess.
        'a,t,3,"12,3",1\n': "line 2, column 'mean': expected a number, found '12,3'",
        "a,t,3,1\n": "line 2: expected 5 fields, found 4",
    }.items():
        with pytest.raises(ScoreDataError, match=message):
            read_scores(written(tmp_path / "scores.csv", head + rows))
    path = written(tmp_path / "scores.csv", head + "a,t,3,1,1\n")
    with pytest.raises(ScoreDataError, match="no column 'suite' to select by"):
        read_scores(path, where={"suite": "x"})
    with pytest.raises(ScoreDataError, match="missing column 'runs'; found algorithm, task, mean"):
        read_scores(written(path, "algorithm,task,mean,std\na,t,1,2\n"))


def test_means_of_the_episodes_of_runs_are_scores(tmp_path):
    text = "algo,env,seed,mean,std,n\na,t,0,1.5,2,9\na,t,1,2.5,2,9\n"
    path = written(tmp_path / "evaluations.csv", text)
    with pytest.raises(ScoreDataError, match="missing column 'score'"):
        read_scores(path)
    assert read_quietly(path, metric="mean").runs("a", "t").tolist() == [1.5, 2.5]
