"""Studies with people: plans, invitations, and recorded games.

A :class:`StudyPlan` lists the rules, boards, pages and questions of a study: :func:`read_plan`
reads one, and :func:`check_plan` lists its screens, errors and warnings, a
:class:`CheckedPlan`. :func:`make_study` puts it on a board, where :func:`study_named` finds it and
:func:`personal_links` invites to it. :func:`write_study` exports what was played, with a run folder
by :func:`write_study_run`. :func:`games_of` a study are its games, :func:`find_game` finds one by
its key, and :func:`puzzles` are the rules that all may play. :func:`texts` are the words of the
pages in a language of :func:`available_languages`.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
