"""SVG files made small: the drawing that Matplotlib writes, in half the bytes.

Nothing that is seen changes: points keep two decimals, which is finer than any screen shows.
"""

from __future__ import annotations

import re

#: A command of a path that has straight lines only.
_POINT = re.compile(r"([MLz])(?: (-?[\d.]+) (-?[\d.]+))?")
_PATH = re.compile(r'\bd="([^"]*)"')
#: Where something is drawn or cut off, with more than two decimals.
_PLACE = re.compile(r'(?<= )(x|y|width|height)="(-?\d+\.\d{3,})"')
#: Upright text is told so.
_NOT_TURNED = re.compile(r' transform="rotate\(-0 [^"]*\)"')
#: Markers in one style, one after another.
_MARKERS = re.compile(r'<use [^>]*? style="([^"]*)"/>(?:\s*<use [^>]*? style="\1"/>)+')
_USED = re.compile(r'(?:url\(|xlink:href=")#([^")]+)')
_ID = re.compile(r' id="([^"]+)"')
#: What Matplotlib calls whatever nobody has named.
_NUMBERED = re.compile(r"[A-Za-z0-9.]+_\d+")
_GROUP = re.compile(r"<g\b[^>]*>|</g>")


def compact_svg(text: str) -> str:
    """Return an SVG file of Matplotlib's in fewer bytes, drawn alike.

    Lines go from point to point instead of from the corner of the drawing, points drawn twice are
    dropped, markers share their style, and ids and groups that nothing refers to go.

    Examples
    --------
    >>> print(compact_svg('''<g id="line_1">
    ...   <path d="M 10.004 20.5
    ... L 11.25 20.5
    ... L 11.252 19
    ... "/>
    ... </g>'''))
    <path d="M10 20.5h1.25v-1.5"/>
    """
    text = _NOT_TURNED.sub("", text)
    text = _PATH.sub(lambda found: f'd="{_relative(found[1])}"', text)
    text = _PLACE.sub(lambda found: f'{found[1]}="{float(found[2]):.2f}"', text)
    text = _MARKERS.sub(_sharing_their_style, text)
    text = _without_groups(_with_short_ids(text))
    return re.sub(r"\n\s+", "\n", text).strip("\n")


def _relative(path: str) -> str:
    """Return a path of straight lines with each point told from the one before it."""
    if re.search("[^MLz0-9. \n-]", path):
        return " ".join(path.split())
    told: list[str] = []
    x = y = 0
    start = (0, 0)
    for letter, across, down in _POINT.findall(path):
        if letter == "z":
            told.append("z")
            x, y = start
            continue
        to = (round(100 * float(across)), round(100 * float(down)))
        if letter == "M":
            start = to
            told.append("M" + _numbers(*to))
        elif to != (x, y):
            told.append(_line(to[0] - x, to[1] - y))
        x, y = to
    return _joined(told)


def _line(across: int, down: int) -> str:
    if down == 0:
        return "h" + _number(across)
    return "v" + _number(down) if across == 0 else "l" + _numbers(across, down)


def _joined(told: list[str]) -> str:
    """Join commands; of lines in a row only the first needs its letter."""
    parts = []
    before = ""
    for command in told:
        if command[0] == before == "l":
            parts.append(command[1:] if command[1] == "-" else " " + command[1:])
        else:
            parts.append(command)
        before = command[0]
    return "".join(parts)


def _numbers(first: int, second: int) -> str:
    after = _number(second)
    return _number(first) + (after if after[0] == "-" else " " + after)


def _number(hundredths: int) -> str:
    """Return a number of hundredths in the fewest digits."""
    text = f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def _sharing_their_style(found: re.Match[str]) -> str:
    style = f' style="{found[1]}"'
    return f"<g{style}>{found[0].replace(style, '')}</g>"


def _with_short_ids(text: str) -> str:
    """Give numbers to the ids that something refers to; keep those that a drawer gave."""
    used = {name: f"{name[0]}{k}" for k, name in enumerate(dict.fromkeys(_USED.findall(text)))}

    def named(found: re.Match[str]) -> str:
        name = used.get(found[1], found[1])
        return "" if found[1] not in used and _NUMBERED.fullmatch(name) else f' id="{name}"'

    text = _ID.sub(named, text)
    return _USED.sub(lambda found: found[0].replace(found[1], used[found[1]]), text)


def _without_groups(text: str) -> str:
    """Drop the groups that say nothing of what is in them."""
    ends: list[str] = []

    def kept(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return ends.pop()
        says_nothing = found[0] in ("<g>", "<g/>")
        if not found[0].endswith("/>"):
            ends.append("" if says_nothing else "</g>")
        return "" if says_nothing else found[0]

    return _GROUP.sub(kept, text)
