"""Induction: what players conclude about a hidden rule, and where they fail.

A player sees evidence, then plans its moves on test boards without feedback and states the rule.
The comparison with an ideal observer, which has the same evidence or evidence of its own choice,
shows whether the tests or the conclusion were poor.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
