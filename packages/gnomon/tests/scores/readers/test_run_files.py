"""Files of one run each: monitors and evaluations of Stable-Baselines3, scalars of TensorBoard."""

import numpy as np
import pytest

from gnomon.errors import DegenerateScoresWarning, ScoreDataError
from gnomon.scores import read_scores
from score_files import written
from score_tables import with_notes

pytestmark = pytest.mark.filterwarnings("ignore:the score of a run is the mean")

SCALAR = "Wall time,Step,Value\n1.5,0,1\n2.5,10,{}\n"


def evaluations(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **({"timesteps": [10, 20], "results": [[1.0, 3.0], [4.0, 6.0]]} | arrays))
    return path


def monitor(start, *episodes, env="Ant-v5"):
    lines = [f'#{{"t_start": {start}, "env_id": "{env}"}}', "r,l,t", *episodes]
    return "\n".join(lines) + "\n"


def test_the_monitors_of_a_vector_environment_are_one_run(tmp_path):
    folder = tmp_path / "ppo" / "Ant" / "7"
    written(folder / "0.monitor.csv", monitor(100.0, "1,10,1", "3,10,5"))
    written(folder / "1.monitor.csv", monitor(100.5, "2,20,1", "4,20,2"))
    steps, curves = read_scores(tmp_path, window=1).curves("ppo", "Ant")
    assert steps.tolist() == [10, 30, 50, 60]
    assert curves.tolist() == [[1, 2, 4, 3]]


def test_a_numbered_folder_of_its_task_is_a_run(tmp_path):
    for run in (1, 2):
        for env in (0, 1):
            place = tmp_path / "logs" / "ppo" / f"Ant-v5_{run}" / f"{env}.monitor.csv"
            written(place, monitor(0.0, f"{run},10,{env + 1}"))
    table = read_scores(tmp_path / "logs")
    assert (table.tasks, table.last_step().run_labels("ppo", "Ant-v5")) == (("Ant-v5",), (1, 2))
    assert table.curves("ppo", "Ant-v5")[0].tolist() == [10, 20]


def test_a_single_monitor_names_its_task(tmp_path):
    path = written(tmp_path / "monitor.csv", monitor(0.0, "1,10,1"))
    with pytest.warns(DegenerateScoresWarning, match="names no algorithm: read as one run of 'mon"):
        assert read_scores(path).tasks == ("Ant-v5",)


def test_evaluations_are_means_over_episodes(tmp_path):
    path = tmp_path / "ppo" / "Ant" / "0" / "evaluations.npz"
    evaluations(path, successes=[[0, 1], [1, 1]])
    table = read_scores(tmp_path)
    np.testing.assert_array_equal(table.curves("ppo", "Ant")[1], [[2.0, 5.0]])
    successes = read_scores(tmp_path, metric="successes")
    np.testing.assert_array_equal(successes.curves("ppo", "Ant")[1], [[0.5, 1.0]])
    with pytest.warns(DegenerateScoresWarning, match="read as one run of 'evaluations'"):
        assert read_scores(path).algorithms == ("evaluations",)


def test_evaluations_by_their_place(tmp_path):
    for place in ("ppo/Ant/0", "ppo/Ant/1", "sac/Ant_3"):
        evaluations(tmp_path / place / "evaluations.npz")
    table = read_scores(tmp_path).last_step()
    assert table.run_labels("ppo", "Ant") == (0, 1)
    assert table.run_labels("sac", "Ant") == (3,)
    written(tmp_path / "ppo" / "Ant" / "0" / "monitor.csv", monitor(0.0, "1,10,1"))
    with pytest.raises(
        ScoreDataError, match="recognised as 'evaluations' and 'monitors'; expected"
    ):
        read_scores(tmp_path)
    assert len(read_scores(tmp_path, format="monitors")) == 1


@pytest.mark.filterwarnings("ignore:.*names neither algorithm nor task")
def test_evaluations_that_are_none(tmp_path):
    for arrays, said in [
        ({"results": [1.0, 2.0]}, r"found \(2,\) and \(2,\)$"),
        ({"results": [[1.0]]}, r"found \(2,\) and \(1, 1\)$"),
    ]:
        path = evaluations(tmp_path / "evaluations.npz", **arrays)
        with pytest.raises(ScoreDataError, match=said):
            read_scores(path, format="evaluations")
    with pytest.raises(
        ScoreDataError, match="expected timesteps and wins, found timesteps, result"
    ):
        read_scores(path, format="evaluations", metric="wins")
    with pytest.raises(ScoreDataError, match=r"expected an \.npz file of arrays of numbers"):
        read_scores(written(tmp_path / "x.npz", "text"), format="evaluations")
    with pytest.raises(ScoreDataError, match="expected a file or folder of scores; there is none"):
        read_scores(tmp_path / "nowhere.npz", format="evaluations")


def test_scalars_by_their_place(tmp_path):
    for run, value in (("0", 2), ("1", 4)):
        written(tmp_path / "ppo" / "Ant" / f"{run}.csv", SCALAR.format(value))
    table, notes = with_notes(read_scores, tmp_path)
    assert (table.last_step().runs("ppo", "Ant").tolist(), notes) == ([2, 4], [])


def test_scalars_by_their_names(tmp_path):
    for run in ("ppo_1", "ppo_2", "sac_1"):
        written(tmp_path / f"run-{run}-tag-eval_mean_reward.csv", SCALAR.format(3))
        written(tmp_path / f"run-{run}-tag-loss.csv", SCALAR.format(0))
    with pytest.raises(
        ScoreDataError, match="expected one tag of the files; found eval_mean_reward and"
    ):
        read_scores(tmp_path)
    with pytest.raises(ScoreDataError, match="ppo_1, ppo_2 may be runs of 'ppo' or algorithms"):
        read_scores(tmp_path, metric="eval/mean_reward")
    options = {"metric": "eval/mean_reward", "run_names": "{algorithm}_{run}"}
    table = read_scores(tmp_path, **options)
    assert table.algorithms == ("ppo", "sac")
    assert table.last_step().run_labels("ppo", tmp_path.name) == (1, 2)
    with pytest.raises(ScoreDataError, match="no file of the tag 'wins'; found eval_mean_reward"):
        read_scores(tmp_path, metric="wins")


@pytest.mark.filterwarnings("ignore:.*names no task")
def test_scalars_that_are_none(tmp_path):
    for text, said in [
        ("Wall time,Step\n1,2\n", "expected the columns Wall time, Step, Value; found Wall time"),
        (SCALAR.format("high"), "line 3, column 'Value': expected a number, found 'high'"),
        ("Wall time,Step,Value\n1,,3\n", "line 2, column 'Step': expected a number, found nothing"),
    ]:
        with pytest.raises(ScoreDataError, match=said):
            read_scores(written(tmp_path / "0.csv", text), format="tensorboard-csv")


def test_monitor_files_by_their_place(tmp_path):
    text = '#{"t_start": 0.0}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n'
    for place in ("ppo/ant/0.monitor.csv", "ppo/ant/1.monitor.csv", "sac/ant/7/monitor.csv"):
        written(tmp_path / place, text)
    last = read_scores(tmp_path).last_step()
    assert last.run_labels("ppo", "ant") == (0, 1)
    assert last.run_labels("sac", "ant") == (7,)
    written(tmp_path / "ppo" / "ant" / "monitor.csv", text)
    with pytest.raises(ScoreDataError, match=r"expected ALGORITHM/TASK/RUN\.monitor\.csv or"):
        read_scores(tmp_path)


def test_the_folder_of_one_run_is_not_enough(tmp_path):
    folder = tmp_path / "PPO-Ant-v5"
    evaluations(folder / "evaluations.npz")
    with pytest.raises(ScoreDataError, match=r"found evaluations\.npz of one run: give its parent"):
        read_scores(folder)
    written(folder / "0.monitor.csv", monitor(0.0, "1,10,1"))
    with pytest.raises(ScoreDataError, match=r"found monitor\.csv of one run: give its parent"):
        read_scores(folder)
    (folder / "evaluations.npz").unlink()
    assert read_scores(tmp_path).algorithms == ("PPO",)


def test_a_folder_without_any_is_told(tmp_path):
    with pytest.raises(ScoreDataError, match=r"expected ALGORITHM/TASK/RUN/monitor\.csv in it"):
        read_scores(tmp_path, format="monitors")
    with pytest.raises(ScoreDataError, match="line 1: expected '#' and JSON, as a monitor file"):
        read_scores(written(tmp_path / "other.csv", "r,l,t\n"), format="monitors")
