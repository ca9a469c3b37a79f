from .environment import EnvParams as EnvParams
from .environment import HiddenRules as HiddenRules
from .environment import Observation as Observation
from .environment import features as features
from .environment import make as make
from .rule_tables import CATALOGUE as CATALOGUE
from .rule_tables import Sizes as Sizes
from .transition import EnvState as EnvState

__all__ = [
    "CATALOGUE",
    "EnvParams",
    "EnvState",
    "HiddenRules",
    "Observation",
    "Sizes",
    "features",
    "make",
]
