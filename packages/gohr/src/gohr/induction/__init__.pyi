from .conclusions import Conclusion as Conclusion
from .conclusions import Grade as Grade
from .conclusions import foretells as foretells
from .conclusions import grade as grade
from .conclusions import plan_of as plan_of
from .conditions import evidence as evidence
from .conditions import trial_boards as trial_boards
from .outcomes import Induction as Induction
from .outcomes import Loss as Loss
from .outcomes import Outcome as Outcome
from .outcomes import Solved as Solved
from .players import ideal_conclusion as ideal_conclusion
from .players import learner_conclusion as learner_conclusion
from .players import measure as measure
from .players import outcome_of as outcome_of
from .published import measured_outcomes as measured_outcomes
from .published import read_outcomes as read_outcomes

__all__ = [
    "Conclusion",
    "Grade",
    "Induction",
    "Loss",
    "Outcome",
    "Solved",
    "evidence",
    "foretells",
    "grade",
    "ideal_conclusion",
    "learner_conclusion",
    "measure",
    "measured_outcomes",
    "outcome_of",
    "plan_of",
    "read_outcomes",
    "trial_boards",
]
