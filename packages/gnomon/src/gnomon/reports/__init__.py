"""Reports: a page that begins with what a reader wants to know, and every figure with its numbers.

:func:`report` writes the page of a table of scores or of an evaluation; :func:`scores_report`
returns it as data. A page is a :class:`Report`: one :class:`Section` after another, of texts
(:class:`Answer`), of figures and of :class:`Table`. ``Report.save`` writes it, after
:func:`try_place` has checked that it can.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
