from .conclusions import Conclusion as Conclusion
from .conclusions import grade as grade
from .conclusions import ideal_conclusion as ideal_conclusion
from .diagnosis import Induction as Induction
from .diagnosis import Outcome as Outcome
from .players import measure as measure
from .players import outcome_of as outcome_of
from .players import outcomes_of_run as outcomes_of_run
from .published import measured_outcomes as measured_outcomes
from .published import read_outcomes as read_outcomes
from .statements import foretells as foretells
from .testers import RuleTrial as RuleTrial
from .testers import evidence as evidence

__all__ = [
    "Conclusion",
    "Induction",
    "Outcome",
    "RuleTrial",
    "evidence",
    "foretells",
    "grade",
    "ideal_conclusion",
    "measure",
    "measured_outcomes",
    "outcome_of",
    "outcomes_of_run",
    "read_outcomes",
]
