"""The page of a run: :func:`report` writes it, :func:`findings_of` computes its numbers.

:class:`Findings` holds every number of a run; :func:`draw_board` draws a board as players see it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
