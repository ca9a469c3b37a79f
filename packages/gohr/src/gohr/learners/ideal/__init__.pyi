from .belief import Belief as Belief
from .belief import Forecast as Forecast
from .hypotheses import FAMILIES as FAMILIES
from .hypotheses import Hypothesis as Hypothesis
from .hypotheses import HypothesisSpace as HypothesisSpace
from .hypotheses import hypotheses_of as hypotheses_of
from .hypotheses import hypothesis_space as hypothesis_space

__all__ = [
    "FAMILIES",
    "Belief",
    "Forecast",
    "Hypothesis",
    "HypothesisSpace",
    "hypotheses_of",
    "hypothesis_space",
]
