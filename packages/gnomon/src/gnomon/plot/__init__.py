"""Figures of results: records in, Matplotlib out.

Every result draws itself: ``estimate(scores).plot()``, or ``.plot(ax=ax)`` into a panel of your own
figure; ``.figure()`` returns a :class:`Figure`, the drawing with its caption and numbers. Nothing
here computes an estimate or draws a random number.

The drawings behind them take plain numbers: :func:`draw_dots` (values with intervals),
:func:`draw_lines` (lines with bands), :func:`draw_bars` and :func:`draw_map`. Colours are distinct
for colour-blind readers, and series differ by dash and marker too.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
