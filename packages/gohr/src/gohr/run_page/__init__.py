"""The page of a run: :func:`report` writes it, :func:`findings_of` computes its numbers.

:func:`median_curves`, :func:`box_plots` and :func:`draw_board` are its drawings.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
