"""Learners of a hidden rule: reference players, learning algorithms, and your own.

:func:`available_learners` names the kinds, :func:`learner_kinds` describes them with their
settings, and :func:`make_learner` makes one for a trial: :class:`Uniform` (random),
:class:`Frugal` (repeats no failure), :class:`TabularQ`, :class:`Reinforce`, :class:`LinearDQN` (the
paper's), :class:`Ideal` (draws every conclusion), :class:`RulePlayer` (is shown the rule); and a
program or an algorithm of Stable-Baselines3.

A learner of your own is a subclass of :class:`Learner`: it acts on an :class:`Observation` and
observes a :class:`Transition`. Experiments take it as a class, as an instance, or as
``"package.module:Class"``.

:func:`gohr.play` lets a learner play a rule on one board after another; a :class:`TrialInPlay` is
such a trial for a caller with a loop of its own.
:func:`chance_of_success` gives the probability of success at each attempt for a player without
knowledge of the rule, and :func:`regret` the loss relative to the best conclusion from the same
replies.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
