"""An ideal observer: which rules are still possible, and what to do about it.

:func:`hypothesis_space` holds every :class:`Hypothesis` of the ``FAMILIES``, each with its
probability before anything is seen; a :class:`Belief` keeps those that agree with what was, and its
:class:`Forecast` says what each attempt would do. :class:`gohr.learners.Ideal` plays by it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
