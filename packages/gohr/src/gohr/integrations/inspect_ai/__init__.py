"""The game as two tasks of Inspect, ``gohr/hidden_rules`` and ``gohr/rule_learning``."""

from gohr.integrations.inspect_ai.discovery import hidden_rules
from gohr.integrations.inspect_ai.learning import rule_learning

__all__ = ["hidden_rules", "rule_learning"]
