from .attempts import attempt_bytes as attempt_bytes
from .attempts import attempt_columns as attempt_columns
from .attempts import attempts_of as attempts_of
from .config.config_entries import LearnerEntry as LearnerEntry
from .config.config_entries import RuleEntry as RuleEntry
from .config.config_entries import content_hash as content_hash
from .config.experiment_config import ExperimentConfig as ExperimentConfig
from .config.experiment_config import available_experiments as available_experiments
from .config.experiment_config import load_experiment as load_experiment
from .config.predefined_boards import PredefinedBoards as PredefinedBoards
from .config.predefined_boards import RecordedBoards as RecordedBoards
from .config.predefined_boards import season_board_spec as season_board_spec
from .config.suites import Suite as Suite
from .config.suites import available_suites as available_suites
from .config.suites import held_out_rules as held_out_rules
from .config.suites import load_suite as load_suite
from .config.suites import suites_of as suites_of
from .metrics import METRICS as METRICS
from .metrics import Metric as Metric
from .metrics import TrialAttempts as TrialAttempts
from .metrics import episode_errors as episode_errors
from .metrics import score_trial as score_trial
from .recorded_run import RecordedTrial as RecordedTrial
from .recorded_run import write_recorded_run as write_recorded_run
from .rule_elements import Element as Element
from .rule_elements import Elements as Elements
from .rule_elements import Trials as Trials
from .rule_elements import compare_trials as compare_trials
from .rule_elements import elements as elements
from .rule_tags import TagEffect as TagEffect
from .rule_tags import TagEffects as TagEffects
from .rule_tags import tag_effects as tag_effects
from .run_folder import RunFolder as RunFolder
from .run_status import PairStatus as PairStatus
from .run_status import RunStatus as RunStatus
from .run_status import status as status
from .runner import Progress as Progress
from .runner import RunSummary as RunSummary
from .runner import run as run
from .scores import score as score
from .store import TrialRecord as TrialRecord
from .trial import Trial as Trial
from .trial import trials_of as trials_of
from .verification.log_files import read_log as read_log
from .verification.log_files import write_log as write_log
from .verification.verify_run import Verdict as Verdict
from .verification.verify_run import verify as verify
from .verification.verify_run import verify_log as verify_log

__all__ = [
    "METRICS",
    "Element",
    "Elements",
    "ExperimentConfig",
    "LearnerEntry",
    "Metric",
    "PairStatus",
    "PredefinedBoards",
    "Progress",
    "RecordedBoards",
    "RecordedTrial",
    "RuleEntry",
    "RunFolder",
    "RunStatus",
    "RunSummary",
    "Suite",
    "TagEffect",
    "TagEffects",
    "Trial",
    "TrialAttempts",
    "TrialRecord",
    "Trials",
    "Verdict",
    "attempt_bytes",
    "attempt_columns",
    "attempts_of",
    "available_experiments",
    "available_suites",
    "compare_trials",
    "content_hash",
    "elements",
    "episode_errors",
    "held_out_rules",
    "load_experiment",
    "load_suite",
    "read_log",
    "run",
    "score",
    "score_trial",
    "season_board_spec",
    "status",
    "suites_of",
    "tag_effects",
    "trials_of",
    "verify",
    "verify_log",
    "write_log",
    "write_recorded_run",
]
