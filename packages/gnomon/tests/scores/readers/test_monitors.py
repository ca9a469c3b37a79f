"""Monitor files of Stable-Baselines3: one by one, and in folders."""

import numpy as np
import pytest

from gnomon.errors import ScoreDataError
from gnomon.scores import read_scores

pytestmark = pytest.mark.filterwarnings("ignore:the score of a run is the mean")


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_monitors(tmp_path):
    text = '#{"t_start": 1}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n'
    write(tmp_path / "ppo/CartPole/0/monitor.csv", text)
    table = read_scores(tmp_path)
    assert table.curves("ppo", "CartPole")[0].tolist() == [10.0, 30.0]
    assert table.last_step().runs("ppo", "CartPole").tolist() == [2.0]
    with pytest.raises(ScoreDataError, match="line 1: expected '#' and JSON, as a monitor file"):
        read_scores(write(tmp_path / "other.csv", "r,l,t\n"), format="monitors")


def test_monitor_files_by_their_place(tmp_path):
    text = '#{"t_start": 0.0}\nr,l,t\n1.5,10,0.1\n2.5,20,0.2\n'
    write(tmp_path / "ppo" / "ant" / "0.monitor.csv", text)
    write(tmp_path / "ppo" / "ant" / "1.monitor.csv", text)
    write(tmp_path / "sac" / "ant" / "7" / "monitor.csv", text)
    table = read_scores(tmp_path)
    assert table.algorithms == ("ppo", "sac")
    steps, curves = table.curves("ppo", "ant")
    assert steps.tolist() == [10, 30]
    np.testing.assert_array_equal(curves, [[1.5, 2.0]] * 2)
    assert table.last_step().run_labels("sac", "ant") == (7,)
    write(tmp_path / "ppo" / "ant" / "monitor.csv", text)
    with pytest.raises(ScoreDataError, match=r"expected ALGORITHM/TASK/RUN\.monitor\.csv or"):
        read_scores(tmp_path)


def test_a_folder_without_any_is_told(tmp_path):
    with pytest.raises(ScoreDataError, match=r"expected ALGORITHM/TASK/RUN/monitor\.csv in it"):
        read_scores(tmp_path, format="monitors")
