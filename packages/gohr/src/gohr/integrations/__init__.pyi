from .drawn_rules import drawn_rule as drawn_rule
from .drawn_rules import is_of as is_of
from .drawn_rules import rungs_of as rungs_of
from .prompt import instructions as instructions
from .trial_in_words import TrialInWords as TrialInWords

__all__ = [
    "TrialInWords",
    "drawn_rule",
    "instructions",
    "is_of",
    "rungs_of",
]
