"""The game in the frameworks with which others evaluate and train models, one file each.

Each file needs the extra of its name (``pip install gohr[inspect]``); users of that framework
import it, Gnomon never does. All of them share the words and the reading of answers of
:mod:`gohr.integrations.words`, and the engine of the game, so that a result does not depend on the
framework.

For a framework of your own: a :class:`TrialInWords` is a trial described to a model and played by
its answers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
