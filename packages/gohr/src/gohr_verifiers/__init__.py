"""Hidden rules for verifiers, which finds a taskset by its module: ``gnomon-verifiers``."""

from gohr.integrations.verifiers import HiddenRulesEnv, HiddenRulesTaskset

__all__ = ["HiddenRulesEnv", "HiddenRulesTaskset"]
