"""Hidden rules for verifiers, which finds a taskset by its module: ``gohr-verifiers``."""

from gohr.integrations.verifiers import HiddenRulesEnv, HiddenRulesTaskset

__all__ = ["HiddenRulesEnv", "HiddenRulesTaskset"]
