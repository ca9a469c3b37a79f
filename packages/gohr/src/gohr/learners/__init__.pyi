from .base import Learner as Learner
from .base import Observation as Observation
from .base import Transition as Transition
from .chance import chance_of_success as chance_of_success
from .compiled import CompiledLearner as CompiledLearner
from .fixed_players import Frugal as Frugal
from .fixed_players import RulePlayer as RulePlayer
from .fixed_players import Uniform as Uniform
from .ideal.learner import Ideal as Ideal
from .ideal.regret import Regret as Regret
from .ideal.regret import regret as regret
from .linear_dqn import LinearDQN as LinearDQN
from .registry import LearnerKind as LearnerKind
from .registry import LearnerKinds as LearnerKinds
from .registry import available_learners as available_learners
from .registry import is_shown_the_rule as is_shown_the_rule
from .registry import learner_kinds as learner_kinds
from .registry import make_learner as make_learner
from .reinforce import Reinforce as Reinforce
from .settings import LearnerField as LearnerField
from .settings import Range as Range
from .tabular_q import TabularQ as TabularQ

__all__ = [
    "CompiledLearner",
    "Frugal",
    "Ideal",
    "Learner",
    "LearnerField",
    "LearnerKind",
    "LearnerKinds",
    "LinearDQN",
    "Observation",
    "Range",
    "Regret",
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
