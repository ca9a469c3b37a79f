"""Packages that can be called: the verb of a package under the package's own name.

``gnomon.distill`` is a package with the parts of distillation, and ``gn.distill(scores)`` the verb.
Python binds a package to its name in the parent as soon as it is imported, over any function of
that name; so the package itself is what is called (docs/decisions/011-public-names.md).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """A package whose call is that of the function of the same name inside it."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **options)


def make_callable(name: str) -> None:
    """Let a package that is being imported be called: ``gnomon.distill()`` is its ``distill()``.

    Parameters
    ----------
    name : str
        The package's ``__name__``; it has, or loads when asked, a function of its last part.

    Examples
    --------
    >>> import gnomon.distill
    >>> callable(gnomon.distill), gnomon.distill.__name__
    (True, 'gnomon.distill')
    """
    sys.modules[name].__class__ = _CallablePackage
