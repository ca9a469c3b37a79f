from .aggregates import difficulty_progress as difficulty_progress
from .aggregates import interquartile_mean as interquartile_mean
from .aggregates import mean as mean
from .aggregates import median as median
from .aggregates import optimality_gap as optimality_gap
from .aggregates import share_above as share_above
from .aggregates import task_iqm as task_iqm
from .aggregates import trimmed_mean as trimmed_mean
from .bootstrap.quantiles import percentile_interval as percentile_interval
from .bootstrap.quantiles import quantiles as quantiles
from .bootstrap.resamples import Resamples as Resamples
from .bootstrap.resamples import draw_key as draw_key
from .bootstrap.resamples import median_curve as median_curve
from .bootstrap.resamples import median_interval as median_interval
from .comparisons.all_pairs import compare_all as compare_all
from .comparisons.comparison import Comparison as Comparison
from .comparisons.comparison import Comparisons as Comparisons
from .comparisons.comparison import compare as compare
from .comparisons.effects import almost_stochastic_order as almost_stochastic_order
from .comparisons.effects import cliffs_delta as cliffs_delta
from .comparisons.effects import hedges_g as hedges_g
from .comparisons.effects import permutation_test as permutation_test
from .comparisons.effects import task_tests as task_tests
from .comparisons.effects import violation_ratio as violation_ratio
from .comparisons.improvement import Placements as Placements
from .comparisons.improvement import placements as placements
from .comparisons.improvement import probability_of_improvement as probability_of_improvement
from .comparisons.rank_tests import DifficultyOrder as DifficultyOrder
from .comparisons.rank_tests import PairwiseTest as PairwiseTest
from .comparisons.rank_tests import difficulty_order as difficulty_order
from .comparisons.rank_tests import holm as holm
from .comparisons.rank_tests import mann_whitney as mann_whitney
from .comparisons.rank_tests import mann_whitney_table as mann_whitney_table
from .estimates import Estimate as Estimate
from .estimates import Estimates as Estimates
from .estimates import estimate as estimate
from .histograms import Histogram as Histogram
from .histograms import Histograms as Histograms
from .histograms import score_histograms as score_histograms
from .intervals import Interval as Interval
from .intervals import basic as basic
from .intervals import bias_corrected as bias_corrected
from .intervals import bias_corrected_accelerated as bias_corrected_accelerated
from .intervals import percentile as percentile
from .intervals import studentized as studentized
from .learning_curves import Curve as Curve
from .learning_curves import Curves as Curves
from .learning_curves import curves as curves
from .learning_curves import summarize_runs as summarize_runs
from .metrics import METRICS as METRICS
from .metrics import Metric as Metric
from .metrics import metric_named as metric_named
from .planning import Plan as Plan
from .planning import SequentialResult as SequentialResult
from .planning import plan as plan
from .planning import sequential_compare as sequential_compare
from .planning import sequential_levels as sequential_levels
from .power import IntervalWidth as IntervalWidth
from .power import PowerPoint as PowerPoint
from .power import interval_widths as interval_widths
from .power import power_curve as power_curve
from .power import runs_needed as runs_needed
from .profiles.bands import average_score_profile as average_score_profile
from .profiles.bands import exact_band as exact_band
from .profiles.bands import run_score_profile as run_score_profile
from .profiles.bands import simultaneous_band as simultaneous_band
from .profiles.distance import distance_profiles as distance_profiles
from .profiles.distance import likelihood_distances as likelihood_distances
from .profiles.distance import likelihood_profiles as likelihood_profiles
from .profiles.distance import permutation_distances as permutation_distances
from .profiles.distance import ratio_profiles as ratio_profiles
from .profiles.distance import ratios_to_best as ratios_to_best
from .profiles.kinds import Profiles as Profiles
from .profiles.kinds import profile as profile
from .profiles.performance import Profile as Profile
from .profiles.performance import performance_profiles as performance_profiles
from .profiles.performance import thresholds as thresholds
from .small_sample import DeltaError as DeltaError
from .small_sample import Influences as Influences
from .small_sample import delta_error as delta_error
from .small_sample import delta_interval as delta_interval
from .small_sample import median_profile_interval as median_profile_interval
from .strata import Strata as Strata
from .subsampling import Subsamples as Subsamples
from .subsampling import subsample_table as subsample_table
from .subsampling import subsampled as subsampled
from .summaries import stand_in_runs as stand_in_runs

__all__ = [
    "METRICS",
    "Comparison",
    "Comparisons",
    "Curve",
    "Curves",
    "DeltaError",
    "DifficultyOrder",
    "Estimate",
    "Estimates",
    "Histogram",
    "Histograms",
    "Influences",
    "Interval",
    "IntervalWidth",
    "Metric",
    "PairwiseTest",
    "Placements",
    "Plan",
    "PowerPoint",
    "Profile",
    "Profiles",
    "Resamples",
    "SequentialResult",
    "Strata",
    "Subsamples",
    "almost_stochastic_order",
    "average_score_profile",
    "basic",
    "bias_corrected",
    "bias_corrected_accelerated",
    "cliffs_delta",
    "compare",
    "compare_all",
    "curves",
    "delta_error",
    "delta_interval",
    "difficulty_order",
    "difficulty_progress",
    "distance_profiles",
    "draw_key",
    "estimate",
    "exact_band",
    "hedges_g",
    "holm",
    "interquartile_mean",
    "interval_widths",
    "likelihood_distances",
    "likelihood_profiles",
    "mann_whitney",
    "mann_whitney_table",
    "mean",
    "median",
    "median_curve",
    "median_interval",
    "median_profile_interval",
    "metric_named",
    "optimality_gap",
    "percentile",
    "percentile_interval",
    "performance_profiles",
    "permutation_distances",
    "permutation_test",
    "placements",
    "plan",
    "power_curve",
    "probability_of_improvement",
    "profile",
    "quantiles",
    "ratio_profiles",
    "ratios_to_best",
    "run_score_profile",
    "runs_needed",
    "score_histograms",
    "sequential_compare",
    "sequential_levels",
    "share_above",
    "simultaneous_band",
    "stand_in_runs",
    "studentized",
    "subsample_table",
    "subsampled",
    "summarize_runs",
    "task_iqm",
    "task_tests",
    "thresholds",
    "trimmed_mean",
    "violation_ratio",
]
