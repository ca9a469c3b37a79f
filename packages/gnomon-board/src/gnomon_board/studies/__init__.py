"""Studies with people: plans, invitations, and recorded games.

:func:`read_plan` reads a :class:`StudyPlan`, :func:`make_study` puts it on a board, and
:func:`write_study` exports what was played.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
