"""Points of a board, as recorded people were given them."""

from __future__ import annotations

import pytest

from gohr.people.rewards import earned, points_of
from gohr.people.series_plan import PointsPlan
from recorded_people import recorded


def test_points_are_those_of_the_reference():
    for record in recorded("rewards"):
        plan = PointsPlan(least=record["min_points"], most=record["max_points"], slope=record["b"])
        for errors, _, rounded in record["errors_raw_rounded"]:
            assert points_of(plan, float(errors)) == rounded


@pytest.mark.parametrize("end", ["", "given up", "cut off"])
def test_a_board_that_is_not_finished_earns_nothing(end):
    assert earned(PointsPlan(), end, 0) == 0


@pytest.mark.parametrize("end", ["cleared", "stalemate", "mastered"])
def test_a_finished_board_is_paid_where_the_plan_pays(end):
    assert earned(PointsPlan(), end, 0) == 10
    assert earned(None, end, 0) == 0
