"""The tasks that Inspect finds under the name ``gohr``."""

from gohr.integrations.inspect_ai import hidden_rules as hidden_rules
from gohr.integrations.rule_learning import rule_learning as rule_learning
