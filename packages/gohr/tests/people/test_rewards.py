"""Points of a board, as recorded people were given them."""

from __future__ import annotations

import pytest

from gohr.people import PointsPlan
from recorded_episodes import VECTORS, records


def test_points_are_those_of_the_reference():
    path = VECTORS / "transcripts" / "rewards.jsonl.gz"
    if not path.is_file():
        pytest.skip("the recorded transcripts are not beside the repository")
    for record in records(path):
        plan = PointsPlan(least=record["min_points"], most=record["max_points"], slope=record["b"])
        for errors, _, rounded in record["errors_raw_rounded"]:
            assert plan.points(float(errors)) == rounded
