"""Human play: sessions, studies, baselines, transcripts, and play in a terminal.

A :class:`Game` is what is played; a :class:`PlaySession` is somebody at it, of whom a
:class:`PlayView` tells all that may be seen. :func:`baseline_curves` are the errors of learners on
the same rule. :func:`transcript_text` writes games as the reference system does, and
:func:`play_scores` makes a table of scores of them. A :class:`StudyPlan` says what invited players
meet.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
