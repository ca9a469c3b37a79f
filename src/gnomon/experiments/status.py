"""How far a run is: for each learner and rule, what is done, failed and missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from gnomon.experiments.run_folder import RunFolder

__all__ = ["PairStatus", "status_of"]


@dataclass(frozen=True, slots=True)
class PairStatus:
    """How many trials of a learner on a rule are done, failed, and not played yet."""

    learner: str
    rule: str
    done: int
    failed: int
    missing: int

    def as_record(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)


def status_of(folder: RunFolder) -> list[PairStatus]:
    """Return how far each learner is on each rule; a run may be going on meanwhile.

    Examples
    --------
    >>> import tempfile
    >>> from gnomon.experiments.config import ExperimentConfig
    >>> from gnomon.experiments.runner import run
    >>> config = ExperimentConfig("first", ["clockwise"], ["uniform"], trials=2, episodes=3)
    >>> with tempfile.TemporaryDirectory() as out:
    ...     status_of(run(config, out).folder)
    [PairStatus(learner='uniform', rule='clockwise', done=2, failed=0, missing=0)]
    """
    config = folder.config
    counts = Counter((r.learner, r.rule, r.status) for r in folder.trials())
    return [
        PairStatus(
            learner.name,
            rule.name,
            done := counts[learner.name, rule.name, "done"],
            failed := counts[learner.name, rule.name, "failed"],
            config.trials - done - failed,
        )
        for learner in config.learners
        for rule in config.rules
    ]
