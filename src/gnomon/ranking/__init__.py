"""Ranking: who is better, which task is harder, and which of it the data can tell.

All start from a :class:`~gnomon.scores.table.ScoreTable`. Only the order of scores on one task
counts, so a run that never learned is simply worse than all others. What comes back shows itself
as text, data frame or figure.

Who is better, and which ranks are certain?
    :func:`rank` rates algorithms, or tasks by difficulty, with rank intervals and tie groups;
    :func:`separation` says how many runs would separate two. :func:`compare_pairs` tests every
    pair, :func:`critical_difference` compares mean ranks over tasks, and :func:`rank_distribution`
    says how often one run of each comes first, second, and so on.
Does the order depend on the method, or on who else is there?
    :func:`orders_by_method` ranks by all :data:`METHODS` side by side; :func:`pool_effects` leaves
    out one at a time; :func:`measure_intransitivity` says how much no rating explains.
Which tasks are alike?
    :func:`difficulty_classes` sorts them by the learners' scores, :func:`generality` says of how
    many classes each algorithm learns a task.
What can be believed of a table from elsewhere?
    :func:`audit` says all of it in sentences, with figures and a page (an :class:`Audit`); of an
    evaluation, what its items hold and lack (an :class:`ItemAudit`).
What it is made of
    A :class:`Contest` counts who wins, run against run; a :class:`Tournament` pools the log-odds
    over tasks into a graph; a method rates the graph: :func:`hodge_ratings`,
    :func:`bradley_terry`, :func:`kemeny_order`, :func:`nash_averaging` and others.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
