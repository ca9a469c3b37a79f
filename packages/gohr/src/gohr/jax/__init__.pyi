from .environment import EnvParams as EnvParams
from .environment import HiddenRules as HiddenRules
from .environment import Observation as Observation
from .environment import make as make

__all__ = ["EnvParams", "HiddenRules", "Observation", "make"]
