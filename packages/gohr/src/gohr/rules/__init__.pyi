from .catalogue import FAMILIES as FAMILIES
from .catalogue import TAGS as TAGS
from .catalogue import available_rules as available_rules
from .catalogue import info_of as info_of
from .catalogue import load_rule as load_rule
from .catalogue import load_rule_text as load_rule_text
from .catalogue import resolve_rule as resolve_rule
from .catalogue import rule_info as rule_info
from .linter import lint as lint
from .orders import BUILT_IN_ORDERS as BUILT_IN_ORDERS
from .paraphrase import explain as explain
from .parser import parse as parse
from .syntax import RuleSet as RuleSet
from .templates import available_templates as available_templates
from .templates import draw_rule as draw_rule
from .templates import draw_rules as draw_rules
from .templates import load_template as load_template

__all__ = [
    "BUILT_IN_ORDERS",
    "FAMILIES",
    "TAGS",
    "RuleSet",
    "available_rules",
    "available_templates",
    "draw_rule",
    "draw_rules",
    "explain",
    "info_of",
    "lint",
    "load_rule",
    "load_rule_text",
    "load_template",
    "parse",
    "resolve_rule",
    "rule_info",
]
