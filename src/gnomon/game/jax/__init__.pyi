from .environment import HiddenRules as HiddenRules
from .episodes import EnvParams as EnvParams
from .episodes import Observation as Observation
from .episodes import features as features
from .registration import CATALOGUE as CATALOGUE
from .registration import Sizes as Sizes
from .registration import make as make
from .registration import register_with_gymnax as register_with_gymnax
from .spaces import Box as Box
from .spaces import Dict as Dict
from .spaces import Discrete as Discrete
from .state import EnvState as EnvState
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
