"""Would the findings have changed."""

import pytest

from gnomon.distill.atari import case_study


def test_tables_4_and_5():
    names = ["C51", "IQN", "C2D", "Rainbow"]
    study = case_study(names, [109, 129, 133, 147], [96, 95, 111, 118])
    assert study.inversions == (("C51", "IQN"),)
    assert [a.summary for a in study.rescaled] == pytest.approx([0.74, 0.87, 0.90, 1], abs=0.01)
    assert study.rescaled[-1].relative_error == 0
    assert study.mean_rescaled_error == pytest.approx(0.067, abs=0.01)


def test_another_baseline():
    study = case_study(["a", "b"], [10, 20], [10, 10], baseline="a")
    assert study.rescaled[1].estimate == 1.0
    assert study.mean_rescaled_error == 0.5
