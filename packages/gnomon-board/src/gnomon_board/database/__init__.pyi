from .columns import Base as Base
from .columns import now as now
from .engine import Database as Database
from .migration import current_revision as current_revision
from .migration import require_head as require_head
from .migration import upgrade as upgrade
from .schema import Account as Account
from .schema import AuditRecord as AuditRecord
from .schema import BrowserSession as BrowserSession
from .schema import Entry as Entry
from .schema import EntryAttempt as EntryAttempt
from .schema import Job as Job
from .schema import PlayAttempt as PlayAttempt
from .schema import PlaySession as PlaySession
from .schema import RemoteTrial as RemoteTrial
from .schema import Season as Season
from .schema import SeasonRule as SeasonRule
from .schema import ServerSecret as ServerSecret
from .schema import ServerSwitch as ServerSwitch
from .schema import Study as Study
from .schema import StudyAnswer as StudyAnswer
from .schema import StudyAssignment as StudyAssignment
from .schema import Submission as Submission
from .schema import Token as Token
from .schema import TokenRequest as TokenRequest
from .schema import VerifiedTrial as VerifiedTrial

__all__ = [
    "Account",
    "AuditRecord",
    "Base",
    "BrowserSession",
    "Database",
    "Entry",
    "EntryAttempt",
    "Job",
    "PlayAttempt",
    "PlaySession",
    "RemoteTrial",
    "Season",
    "SeasonRule",
    "ServerSecret",
    "ServerSwitch",
    "Study",
    "StudyAnswer",
    "StudyAssignment",
    "Submission",
    "Token",
    "TokenRequest",
    "VerifiedTrial",
    "current_revision",
    "now",
    "require_head",
    "upgrade",
]
