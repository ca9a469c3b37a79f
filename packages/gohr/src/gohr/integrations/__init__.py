"""The game in common frameworks for evaluation and training of models, one file each.

Each file needs the extra of its name (``pip install gohr[inspect]``) and is imported only by users
of that framework. All use the engine of the game, and the prompts and parsing of answers of
:mod:`gohr.integrations.words`, so that a result does not depend on the framework.

For a framework of your own: a :class:`TrialInWords` is a trial described to a model and played by
its answers.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
