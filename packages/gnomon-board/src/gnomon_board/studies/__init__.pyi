from .export import write_study as write_study
from .plan import StudyPlan as StudyPlan
from .plan import read_plan as read_plan
from .store import make_study as make_study

__all__ = ["StudyPlan", "make_study", "read_plan", "write_study"]
