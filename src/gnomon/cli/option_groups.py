"""Options that several verbs share, as one parameter: a data class, each field an option."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints

__all__ = ["with_groups"]


def with_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """Return the verb with an option for each field of those parameters that are data classes.

    The verb itself is called with the data classes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Colors:
    ...     ink: str = "black"
    ...     paper: str = "white"
    >>> def draw(what: str, colors: Colors) -> None:
    ...     print(what, colors.ink, colors.paper)
    >>> with_groups(draw)(what="a line", ink="blue", paper="white")
    a line blue white
    """
    hints = get_type_hints(verb, include_extras=True)
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }

    @functools.wraps(verb)
    def spread(**values: Any) -> None:
        for name, group in groups.items():
            own = {field.name: values.pop(field.name) for field in fields(group)}
            values[name] = group(**own)
        verb(**values)

    parameters = list(_parameters(verb, hints))
    spread.__annotations__ = {p.name: p.annotation for p in parameters}
    # inspect.signature() honours the attribute, which the type of a function does not declare.
    spread.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return spread


def _parameters(verb: Callable[..., None], hints: dict[str, Any]) -> Iterator[Parameter]:
    """Yield what the command line sees: the parameters of the verb, and the fields of groups."""
    for parameter in signature(verb).parameters.values():
        hint = hints[parameter.name]
        if not is_dataclass(hint):
            yield parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)
            continue
        of_fields = get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            default = Parameter.empty if field.default is MISSING else field.default
            kind = Parameter.KEYWORD_ONLY
            yield Parameter(field.name, kind, default=default, annotation=of_fields[field.name])
