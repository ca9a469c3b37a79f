"""Human players: their transcripts as trials, and when they mastered a rule.

:func:`read_transcripts` reads the transcripts that a study exports into series, each the trial of a
person on a rule; :func:`score_series` makes a table of scores of them. :func:`attempts_to_master`
returns m*, the attempts before mastery, by a streak of successes or by a likelihood ratio;
:func:`mastery_ecdf` estimates how many people have mastered a rule after
a number of attempts.

Examples
--------
>>> from gohr.people import attempts_to_master, mastery_ecdf
>>> m_star = [attempts_to_master(x, target=2) for x in ([0, 1, 1], [1, 1, 0], [0, 0, 1])]
>>> m_star
[1.0, 0.0, inf]
>>> mastery_ecdf(m_star, [3, 3, 3]).cdf.evaluate([0, 1, 2]).round(2)
array([0.33, 0.67, 0.67])
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
