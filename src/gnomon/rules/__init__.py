"""The rule language: its text, its tree, and the rules that come with Gnomon.

The tree is in :mod:`~gnomon.rules.syntax`; :func:`~gnomon.rules.parser.parse` makes it of a text,
and :mod:`~gnomon.rules.catalogue` knows the texts in ``library/``. Nothing here knows boards.
"""

from gnomon.rules.catalogue import available_rules, load_rule, resolve_rule
from gnomon.rules.parser import parse
from gnomon.rules.syntax import RuleSet

__all__ = ["RuleSet", "available_rules", "load_rule", "parse", "resolve_rule"]
