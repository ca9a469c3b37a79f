"""Sample-efficiency curves are drawn where they are."""

import numpy as np

from gnomon.plot import sample_efficiency_curves
from gnomon.plot.curves import efficiency_rows
from gnomon.scores import ScoreTable
from gnomon.stats import curves as curves_of


def test_curves_and_bands_are_the_estimates():
    x = np.random.default_rng(0).normal(size=(2, 4, 3, 5)).cumsum(axis=-1)
    table = ScoreTable.from_arrays({"a": x[0], "b": x[1]})
    curves = curves_of(table, ["mean"], rng=np.random.default_rng(0))
    ax = sample_efficiency_curves(curves, xlabel="frames")
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), curves[1].value)
    assert len(ax.collections) == 2
    assert ax.get_xlim() == (0.0, 4.0)
    assert (ax.get_xlabel(), ax.get_title(loc="left")) == ("frames", "mean")
    assert len(efficiency_rows(curves)) == 10
    assert sample_efficiency_curves(curves[:1], ax=ax) is ax
