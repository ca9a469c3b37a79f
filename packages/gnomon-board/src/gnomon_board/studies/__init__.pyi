from .plan.study_plan import StudyPlan as StudyPlan
from .plan.study_plan import read_plan as read_plan
from .plan_check import CheckedPlan as CheckedPlan
from .plan_check import check_plan as check_plan

__all__ = [
    "CheckedPlan",
    "StudyPlan",
    "check_plan",
    "read_plan",
]
