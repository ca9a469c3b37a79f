"""The published Atari scores, and tables made up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gnomon.distillation import (
    Distilled,
    FactorProcedure,
    HeldOut,
    PreparedScores,
    distill,
    nested_error,
    transform_of,
)

SHARED = Path(__file__).parents[4] / ".." / "shared" / "data"


@pytest.fixture
def atari_folder(monkeypatch) -> Path:
    """Point GNOMON_DATA at the folder beside the repository."""
    if not (SHARED / "atari5" / "dataset.csv").is_file():
        pytest.skip("the Atari-5 data set is not beside the repository")
    monkeypatch.setenv("GNOMON_DATA", str(SHARED))
    return SHARED / "atari5"


@pytest.fixture(scope="session")
def paper() -> PreparedScores:
    """Return the data set as the paper's code prepares it."""
    if not (SHARED / "atari5" / "dataset.csv").is_file():
        pytest.skip("the Atari-5 data set is not beside the repository")
    from gnomon.distillation.atari import paper_scores

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GNOMON_DATA", str(SHARED))
        return paper_scores()


@pytest.fixture(scope="session")
def papers_choice(paper) -> Distilled:
    """Return what the paper's procedure chooses, and without each group of algorithms in turn."""
    return distill(paper, size=5, procedure="paper", nested="groups")[0]


@pytest.fixture(scope="session")
def each_left_out(paper) -> HeldOut:
    """Return what our procedure says of each algorithm without it."""
    rng = np.random.default_rng(0)
    return nested_error(paper, FactorProcedure(), 5, outer="algorithms", rng=rng)


def made_up(
    n: int = 40, n_tasks: int = 8, *, gaps: float = 0.0, seed: int = 0, families: int = 0
) -> PreparedScores:
    """Return scores of one skill and noise; the target is the median of all before the gaps."""
    rng = np.random.default_rng(seed)
    skill = rng.normal(2.0, 1.0, size=(n, 1))
    x = skill * rng.uniform(0.5, 1.2, n_tasks) + rng.normal(0, 0.4, size=(n, n_tasks))
    y = np.median(x, axis=1)
    x[rng.random(x.shape) < gaps] = np.nan
    algorithms = tuple(f"a{i:03}" for i in range(n))
    tasks = tuple(f"t{j:02}" for j in range(n_tasks))
    groups = tuple(f"g{i % families}" for i in range(n)) if families else algorithms
    return PreparedScores(algorithms, tasks, x, y, y, tasks, groups, transform_of("identity"))


@pytest.fixture
def make_scores():
    return made_up
