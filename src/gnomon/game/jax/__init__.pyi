from .environment import CATALOGUE as CATALOGUE
from .environment import EnvParams as EnvParams
from .environment import HiddenRules as HiddenRules
from .environment import Observation as Observation
from .environment import Sizes as Sizes
from .environment import features as features
from .environment import make as make
from .environment import register_with_gymnax as register_with_gymnax
from .spaces import Box as Box
from .spaces import Dict as Dict
from .spaces import Discrete as Discrete
from .transition import EnvState as EnvState
from .wrappers import History as History
from .wrappers import Trial as Trial

__all__ = [
    "CATALOGUE",
    "Box",
    "Dict",
    "Discrete",
    "EnvParams",
    "EnvState",
    "HiddenRules",
    "History",
    "Observation",
    "Sizes",
    "Trial",
    "features",
    "make",
    "register_with_gymnax",
]
