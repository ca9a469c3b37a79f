"""The rule language: its text, its tree, and the rules that come with Gnomon.

:func:`available_rules` names the rules of the library and :func:`rule_info` describes one;
:func:`load_rule` returns its tree, :func:`resolve_rule` that of a name or a file, and :func:`parse`
that of any text: a :class:`RuleSet`, whose parts are the records of :mod:`gohr.rules.syntax`.
:func:`explain` describes in words the moves that a rule accepts.

:func:`lint` finds probable mistakes in valid rules (:func:`gohr.check` also searches for boards on
which a rule gets stuck). :func:`available_templates` names families of rules; :func:`draw_rules`
makes all rules of a template, and :func:`draw_rule` one of them. This package does not depend on
boards.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
