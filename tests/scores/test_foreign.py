import json
from pathlib import Path

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores.plausibility import suspicions, warn_of_suspicions
from gnomon.scores.readers.foreign import read_marl_eval, read_monitors, read_summaries
from gnomon.scores.readers.lm_eval import read_lm_eval
from gnomon.scores.table import ScoreTable

MACHADO = Path(__file__).parents[2] / ".." / "shared/data/scores/machado2018_mean_std.csv"


def file(tmp_path, text, name="scores.csv"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def test_marl_eval(tmp_path):
    runs = {
        f"seed_{s}": {
            "step_0": {"step_count": 0, "return": [s, s + 2]},
            "step_1": {"step_count": 50, "return": [10]},
            "absolute_metrics": {"return": [99]},
        }
        for s in (1, 2)
    }
    path = file(tmp_path, {"smac": {"3m": {"qmix": runs}}}, "scores.json")
    table = read_marl_eval(path, metric="return")
    assert table.at_step(0).runs("qmix", "smac/3m").tolist() == [2.0, 3.0]
    with pytest.raises(ScoreDataError, match="no step holds the metric 'reward'"):
        read_marl_eval(path, metric="reward")
    wrong = file(tmp_path, {"smac": [1]}, "wrong.json")
    with pytest.raises(ScoreDataError, match="expected environment, task, algorithm, run, step_N"):
        read_marl_eval(wrong, metric="return")


def test_monitors(tmp_path):
    path = file(tmp_path, '#{"t_start": 1}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n', "monitor.csv")
    table = read_monitors({("ppo", "CartPole", 0): path})
    assert table.curves("ppo", "CartPole")[0].tolist() == [10.0, 30.0]
    assert table.last_step().runs("ppo", "CartPole").tolist() == [2.5]
    with pytest.raises(ScoreDataError, match="line 1: expected '#' and JSON, as a monitor file"):
        read_monitors({("a", "b", 0): file(tmp_path, "r,l,t\n")})


def test_lm_eval(tmp_path):
    results = {
        "model_name": "tiny",
        "results": {
            "arc": {"acc,none": 0.3, "acc_stderr,none": 0.01, "alias": "arc"},
            "wiki": {"word_perplexity,none": 12.0},
        },
        "higher_is_better": {"arc": {"acc": True}, "wiki": {"word_perplexity": False}},
    }
    path = file(tmp_path, results, "results.json")
    assert read_lm_eval(path).runs("tiny", "arc").tolist() == [0.3]
    perplexity = read_lm_eval({"mine": path}, metric="word_perplexity")
    assert not perplexity.higher_is_better
    with pytest.raises(ScoreDataError, match="expected results with the metric 'f1'; found none"):
        read_lm_eval(path, metric="f1")


def test_files_that_are_none(tmp_path):
    with pytest.raises(ScoreDataError, match="there is none"):
        read_summaries(tmp_path / "absent.csv")
    with pytest.raises(ScoreDataError, match="there is none"):
        read_lm_eval(tmp_path / "absent.json")
    with pytest.raises(ScoreDataError, match="expected JSON"):
        read_lm_eval(file(tmp_path, "{", "broken.json"))


@pytest.mark.skipif(not MACHADO.is_file(), reason="the shared score files are not here")
def test_summaries_of_the_essay():
    table = read_summaries(MACHADO, keep_apart="frames")
    assert len(table.algorithms) == 8
    assert table.mean.shape == (8, 60)
    assert set(np.unique(table.n_runs)) == {5.0, 24.0}
    late = read_summaries(MACHADO, where={"frames": "200000000"})
    assert late.algorithms == ("Sarsa(lambda)+Blob-PROST", "DQN")


def test_summaries_with_a_missing_column(tmp_path):
    with pytest.raises(ScoreDataError, match="missing column 'std'; found algorithm, task, mean"):
        read_summaries(file(tmp_path, "algorithm,task,mean\na,t,1\n"))


def test_summaries_by_columns_that_are_not_there(tmp_path):
    path = file(tmp_path, "algorithm,task,runs,mean,std\na,t,3,1,1\n")
    with pytest.raises(ScoreDataError, match="missing column 'frames'; found algorithm, task"):
        read_summaries(path, keep_apart="frames")
    with pytest.raises(ScoreDataError, match="no column 'suite' to select by"):
        read_summaries(path, where={"suite": "x"})


def test_summaries_with_a_fault(tmp_path):
    head = "algorithm,task,runs,mean,std\n"
    for rows, message in {
        "a,t,3,1,1\na,t,3,2,1\n": "line 3, column 'task': expected one row for each algorithm",
        "a,t,3,1,-1\n": "line 2, column 'std': expected a number from 0, found '-1'",
        "a,t,0,1,1\n": "line 2, column 'runs': expected a number from 1, found '0'",
        "a,t,3,,1\n": "line 2, column 'mean': expected a number, found nothing",
        # Twelve thirds, or a hundred and twenty-three? It is not for us to guess.
        'a,t,3,"12,3",1\n': "line 2, column 'mean': expected a number, found '12,3'",
        "a,t,3,1\n": "line 2: expected 5 fields, found 4",
        "": "expected tasks that all algorithms have; found none",
    }.items():
        with pytest.raises(ScoreDataError, match=message):
            read_summaries(file(tmp_path, head + rows))
    ragged = file(tmp_path, head + "a,t,3,1,1\na,u,3,2,1\nb,t,3,1,1\n")
    with pytest.warns(DegenerateScoresWarning, match="1 of 2 tasks left out, not all have them: u"):
        assert read_summaries(ragged).tasks == ("t",)


def test_suspicious_tables_are_named():
    usual = ScoreTable.from_arrays({"a": np.zeros((10, 5))})
    assert suspicions(usual) == []
    swapped = ScoreTable.from_arrays({"a": np.zeros((100, 2))})
    with pytest.warns(DegenerateScoresWarning, match="100 runs on 2 tasks: were the axes swapped"):
        warn_of_suspicions(swapped)
    nested = ScoreTable.from_records(
        [{"algorithm": "a", "task": "t", "run": i, "score": 0, "episode": 1} for i in range(3)]
    )
    assert "episodes of one run are not independent" in suspicions(nested)[0]


@pytest.mark.parametrize("read", [read_summaries, read_lm_eval])
def test_what_is_no_text(tmp_path, read):
    (tmp_path / "scores.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "scores.csv", tmp_path):
        with pytest.raises(
            ScoreDataError,
            match=r"expected (JSON;|UTF-8 text|a file of scores|files named results)",
        ) as error:
            read(path)
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
