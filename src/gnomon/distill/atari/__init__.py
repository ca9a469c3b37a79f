"""Atari-5: five games that predict the median of 57 (Aitchison, Sweetser and Hutter 2022).

The published models, subsets, costs and tables are data; every number of the paper is computed
again. :func:`score` gives an agent's score from its raw scores, :func:`games` estimates its other
games, :func:`cost` says what a run costs. :func:`models` and :func:`subsets` list what was
published, and how well it predicts; :func:`case_study` says what a paper would have found;
:func:`reproduce` puts every printed number beside ours, and :func:`paper_scores` are the data as
the paper's code prepares them.

Examples
--------
>>> from gnomon.distill import atari
>>> [(one.model, round(one.value)) for one in atari.score({"mine": {"Name This Game": 8049.0}})]
[('Atari-1', 99)]
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
