"""The coverage benchmark: each of its parts still runs on the intervals as they are."""

import warnings

import numpy as np
import pytest
from benchmarks.coverage_parts import PARTS, Tally
from benchmarks.populations import made


@pytest.mark.full
def test_every_part_counts_something():
    population = next(p for p in made() if p.name == "beta, 20")
    for name, part in PARTS.items():
        tally = Tally()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part.count(population, part.runs[-1], 1, np.random.default_rng(0), tally)
        assert tally.lines, name
        assert all(0.0 <= shares <= n for n, shares, *_ in tally.lines.values()), name
