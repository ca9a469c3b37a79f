"""Points of a board, as recorded people were given them."""

from __future__ import annotations

from gohr.people import PointsPlan, points_of
from recorded_people import recorded


def test_points_are_those_of_the_reference():
    for record in recorded("rewards"):
        plan = PointsPlan(least=record["min_points"], most=record["max_points"], slope=record["b"])
        for errors, _, rounded in record["errors_raw_rounded"]:
            assert points_of(plan, float(errors)) == rounded
