"""Reports: a page that begins with what a reader wants to know, and every figure with its numbers.

:func:`report` writes the page of a table of scores or of an evaluation. A page is data until it is
written: a :class:`Report` has one :class:`Section` after another, of texts (:class:`Answer`), of
figures and of :class:`Table`; :func:`report_html` and :func:`report_markdown` return its text and
:func:`write_page` writes it, after :func:`try_place` has checked that it can.
:func:`scores_report` and :func:`evaluation_report` make the pages.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
