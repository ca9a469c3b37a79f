"""Curves of power are drawn where they are."""

from gnomon.plot import power_curves
from gnomon.stats import PowerPoint


def test_power_has_a_curve_for_each_pair():
    points = [PowerPoint("a", b, "iqm", n, n / 40) for b in "bc" for n in (10, 3, 40)]
    ax = power_curves(points, wanted=0.8)
    assert ax.lines[0].get_xdata().tolist() == [3, 10, 40]
    assert len(ax.lines) == 3
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["3", "10", "40"]
    assert len(power_curves(points, wanted=None).lines) == 2
