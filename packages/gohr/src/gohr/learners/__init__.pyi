from .base import Learner as Learner
from .base import Observation as Observation
from .base import Transition as Transition
from .fixed_players import Frugal as Frugal
from .fixed_players import RulePlayer as RulePlayer
from .fixed_players import Uniform as Uniform
from .fixed_players import chance_of_success as chance_of_success
from .ideal import Ideal as Ideal
from .ideal import regret as regret
from .linear_dqn import LinearDQN as LinearDQN
from .registry import available_learners as available_learners
from .registry import is_shown_the_rule as is_shown_the_rule
from .registry import learner_kinds as learner_kinds
from .registry import make_learner as make_learner
from .reinforce import Reinforce as Reinforce
from .tabular_q import TabularQ as TabularQ

__all__ = [
    "Frugal",
    "Ideal",
    "Learner",
    "LinearDQN",
    "Observation",
    "Reinforce",
    "RulePlayer",
    "TabularQ",
    "Transition",
    "Uniform",
    "available_learners",
    "chance_of_success",
    "is_shown_the_rule",
    "learner_kinds",
    "make_learner",
    "regret",
]
