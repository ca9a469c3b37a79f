"""Reports: a page that begins with the main results, and every figure with its numbers.

:func:`report` writes the page of a table of scores or of an evaluation; :func:`scores_report`
returns it as data. A page is a :class:`Report`: a sequence of :class:`Section` with texts
(:class:`Answer`), figures and :class:`Table`. :func:`try_place` checks that it can be written, and
``Report.save`` writes it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
