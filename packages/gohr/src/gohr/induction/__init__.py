"""Induction: what players conclude about a hidden rule, and where they fail.

A player sees evidence, then plans its moves on test boards without feedback and states the rule.
An ideal observer, given the same evidence or evidence of its own choice, tells whether the tests
were poor or the conclusion.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
