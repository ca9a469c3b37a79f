"""Hidden rules for verifiers, which finds a taskset by its module: ``gnomon-verifiers``."""

from gnomon.integrations.verifiers import HiddenRulesEnv, HiddenRulesTaskset

__all__ = ["HiddenRulesEnv", "HiddenRulesTaskset"]
