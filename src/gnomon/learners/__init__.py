"""Learners: one learner, one file, readable from top to bottom.

``available_learners()`` names the kinds, ``learner_fields(kind)`` tells the settings of one with
their defaults, and ``make_learner(kind, board_spec, rng=rng)`` makes one for a trial.
"""

from gnomon.learners.registry import (
    LearnerField,
    available_learners,
    learner_fields,
    make_learner,
)

__all__ = ["LearnerField", "available_learners", "learner_fields", "make_learner"]
