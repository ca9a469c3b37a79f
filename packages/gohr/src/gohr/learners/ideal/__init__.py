"""An ideal observer: the rules that are still possible, and the best next attempt.

:func:`hypothesis_space` holds every :class:`Hypothesis` of the ``FAMILIES``, each with its
probability before anything is seen; a :class:`Belief` keeps those that agree with the replies so
far, and its :class:`Forecast` predicts the outcome of each attempt. :class:`gohr.learners.Ideal`
plays by it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
