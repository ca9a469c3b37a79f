"""Atari-5: five games that predict the median of 57 (Aitchison, Sweetser and Hutter 2022).

The published models and subsets are data; :func:`gnomon.distillation.predict` takes a published set
by its name (``atari-5``). :func:`paper_scores` are the data as the paper's code prepares them, and
:func:`game_models` the published models of every other game.

Examples
--------
>>> from gnomon.distillation import atari
>>> atari.published_models()["Atari-3"].tasks
('battlezone', 'namethisgame', 'phoenix')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
