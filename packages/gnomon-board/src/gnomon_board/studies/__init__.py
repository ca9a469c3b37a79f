"""Human play: sessions, studies, baselines, transcripts, and play in a terminal.

A :class:`Game` is what is played; a :class:`PlaySession` is a person playing it, and a
:class:`PlayView` holds all that this person may see. :func:`baseline_curves` are the errors of
learners on the same rule. :func:`transcript_text` writes games as the reference system does. A
:class:`StudyPlan` lists the rules, boards, pages and questions of a study.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
