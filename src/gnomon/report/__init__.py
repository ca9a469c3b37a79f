"""Reports: a page that begins with what a reader wants to know, and every figure with its numbers.

:func:`report` writes the page of a run, of a table of scores or of a game log. On the way,
:func:`findings_of` computes every number of a run once, from one pass over its attempts; the page
(:class:`Report`: sections of texts, tables and figures) is data until it is written.
:func:`audit_report` and :func:`scores_report` make the pages of an audit and of a table;
:func:`draw_board` draws a board as players see it.
"""

import lazy_loader

from gnomon._io.callable_package import make_callable

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

make_callable(__name__)
