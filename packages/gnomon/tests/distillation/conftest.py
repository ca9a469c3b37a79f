"""The published Atari scores, and made-up suites."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from strategies_distill import prepared

SHARED = Path(__file__).parents[4] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def paper():
    """Return the data set as the paper's code prepares it."""
    if not (SHARED / "atari5" / "dataset.csv").is_file():
        pytest.skip("the Atari-5 data set is not in the repository")
    from gnomon.distillation.atari import paper_scores

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNOMON_DATA", str(SHARED))
        return paper_scores()


def made_up(n: int = 40, n_tasks: int = 8, *, gaps: float = 0.0, seed: int = 0, families: int = 0):
    """Return scores of one skill and noise; the target is the median of all before the gaps."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(2.0, 1.0, size=(n, 1))
    x = skill * rng.uniform(0.5, 1.2, n_tasks) + rng.normal(0, 0.4, size=(n, n_tasks))
    y = np.median(x, axis=1)
    x[rng.random(x.shape) < gaps] = np.nan
    algorithms = tuple(f"a{i:03}" for i in range(n))
    tasks = tuple(f"t{j:02}" for j in range(n_tasks))
    groups = tuple(f"g{i % families}" for i in range(n)) if families else algorithms
    return prepared(algorithms, tasks, x, y, groups=groups)


@pytest.fixture(scope="session")
def make_scores():
    return made_up
