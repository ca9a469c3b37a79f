"""Distillation: find the few tasks of a suite that predict its summary score, and the error.

:func:`distill` chooses tasks and reports two errors: the plain one, with the tasks given, and the
nested one, for which the choice is repeated without the predicted algorithms. :func:`predict`
applies a model to new algorithms, and names the better of two. :func:`prepare` returns the matrix
that these use.
:class:`FactorProcedure` and :class:`PaperProcedure` choose tasks and fit a :class:`SubsetModel` to
them; :func:`nested_error` and :func:`cross_validate` estimate the error of a procedure.

:func:`baselines` shows the errors of other choices. The published sets of Atari games are in
:mod:`gnomon.distillation.atari`.

Examples
--------
>>> from gnomon.distillation import distill
>>> from gnomon.scores import load_scores
>>> distill(load_scores("gohr-full"), size=2, transform="identity", summary="mean").model.tasks
('bottommost-first', 'two-a-bucket')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
