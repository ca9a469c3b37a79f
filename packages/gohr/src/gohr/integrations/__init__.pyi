from .words import TrialInWords as TrialInWords

__all__ = ["TrialInWords"]
