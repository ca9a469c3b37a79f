from .catalogue import FAMILIES as FAMILIES
from .catalogue import TAGS as TAGS
from .catalogue import RuleInfo as RuleInfo
from .catalogue import available_rules as available_rules
from .catalogue import info_of as info_of
from .catalogue import load_rule as load_rule
from .catalogue import load_rule_text as load_rule_text
from .catalogue import read_rule_file as read_rule_file
from .catalogue import resolve_rule as resolve_rule
from .catalogue import rule_info as rule_info
from .lint_names import Finding as Finding
from .linter import lint as lint
from .linter import lint_text as lint_text
from .orders import BUILT_IN_ORDERS as BUILT_IN_ORDERS
from .paraphrase import explain as explain
from .parser import parse as parse
from .syntax import Atom as Atom
from .syntax import Binary as Binary
from .syntax import Expression as Expression
from .syntax import ListOf as ListOf
from .syntax import Name as Name
from .syntax import Not as Not
from .syntax import Number as Number
from .syntax import Order as Order
from .syntax import Property as Property
from .syntax import Range as Range
from .syntax import RuleLine as RuleLine
from .syntax import RuleSet as RuleSet
from .syntax import Span as Span
from .syntax import Text as Text
from .templates import GeneratedRule as GeneratedRule
from .templates import available_templates as available_templates
from .templates import draw_rule as draw_rule
from .templates import generate as generate
from .templates import load_template as load_template
from .templates import rule_family as rule_family
from .templates import write_rules as write_rules
from .variables import variables_of as variables_of

__all__ = [
    "BUILT_IN_ORDERS",
    "FAMILIES",
    "TAGS",
    "Atom",
    "Binary",
    "Expression",
    "Finding",
    "GeneratedRule",
    "ListOf",
    "Name",
    "Not",
    "Number",
    "Order",
    "Property",
    "Range",
    "RuleInfo",
    "RuleLine",
    "RuleSet",
    "Span",
    "Text",
    "available_rules",
    "available_templates",
    "draw_rule",
    "explain",
    "generate",
    "info_of",
    "lint",
    "lint_text",
    "load_rule",
    "load_rule_text",
    "load_template",
    "parse",
    "read_rule_file",
    "resolve_rule",
    "rule_family",
    "rule_info",
    "variables_of",
    "write_rules",
]
