from .attempts import attempt_bytes as attempt_bytes
from .attempts import read_log as read_log
from .attempts import write_log as write_log
from .config import ExperimentConfig as ExperimentConfig
from .config import load_experiment as load_experiment
from .entries import LearnerEntry as LearnerEntry
from .entries import RuleEntry as RuleEntry
from .entries import content_hash as content_hash
from .metrics import METRICS as METRICS
from .metrics import episode_errors as episode_errors
from .metrics import score_trial as score_trial
from .progress import status as status
from .rule_elements import Trials as Trials
from .rule_elements import compare_trials as compare_trials
from .rule_elements import elements as elements
from .rule_tags import tag_effects as tag_effects
from .runner import run as run
from .runs import Run as Run
from .runs import write_recorded_run as write_recorded_run
from .scores import run_label as run_label
from .scores import score as score
from .store import TrialRecord as TrialRecord
from .suites import available_suites as available_suites
from .suites import load_suite as load_suite
from .trial import Trial as Trial
from .trial import trials_of as trials_of
from .verification import Verdict as Verdict
from .verification import verify as verify
from .verification import verify_log as verify_log

__all__ = [
    "METRICS",
    "ExperimentConfig",
    "LearnerEntry",
    "RuleEntry",
    "Run",
    "Trial",
    "TrialRecord",
    "Trials",
    "Verdict",
    "attempt_bytes",
    "available_suites",
    "compare_trials",
    "content_hash",
    "elements",
    "episode_errors",
    "load_experiment",
    "load_suite",
    "read_log",
    "run",
    "run_label",
    "score",
    "score_trial",
    "status",
    "tag_effects",
    "trials_of",
    "verify",
    "verify_log",
    "write_log",
    "write_recorded_run",
]
