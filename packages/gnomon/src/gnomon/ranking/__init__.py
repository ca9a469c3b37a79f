"""Ranking: order algorithms, with intervals of their ranks, and audit tables of scores.

Which algorithm is better, and which ranks are certain?
    :func:`rank` orders algorithms (or tasks by difficulty) with intervals of ranks, and tiers of
    algorithms that are not significantly different. :func:`critical_difference` compares mean ranks
    over tasks.
How reliable is a table of scores?
    :func:`audit` reports it in sentences; for an evaluation it reports missing scores, repeated
    items and items that do not separate the models.
Other orders
    :func:`kemeny_order` for pairwise margins.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
