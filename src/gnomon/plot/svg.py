"""From a drawing to SVG text: the same bytes each time, and fit to stand among others on a page."""

from __future__ import annotations

import io
import re

import matplotlib as mpl
from matplotlib.figure import Figure as Drawing

from gnomon.plot.style import THEME, house_settings

__all__ = ["inline_svg", "svg_text", "theme_css"]

_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"

#: Characters that no XML file may hold; a name in a file of scores may.
_NO_XML = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


def svg_text(drawing: Drawing, name: str) -> str:
    """Return a drawing as the text of an SVG file.

    The text depends on the drawing and the name alone: no date and no random ids. Letters stay
    letters, so that they can be searched, copied and read aloud.

    Parameters
    ----------
    drawing : matplotlib.figure.Figure
    name : str
        Salt of the ids.

    Examples
    --------
    >>> from gnomon.plot.style import new_drawing
    >>> svg_text(new_drawing(2, 1), "empty") == svg_text(new_drawing(2, 1), "empty")
    True
    """
    out = io.StringIO()
    with house_settings(), mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        drawing.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(_NO_XML, "\ufffd", out.getvalue())
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    # Sizes were reckoned with DejaVu Sans, which is wider than all of these: nothing will overlap.
    return text.replace("'DejaVu Sans'", _FONTS.replace("'", "&quot;"))


def inline_svg(svg: str, name: str, alt: str) -> str:
    """Return the text of an SVG file as an element for an HTML page.

    Ids get the figure's name in front, since all inline drawings share one space of ids; the
    house's colours become CSS variables; the size is left to the page.

    Parameters
    ----------
    svg : str
        From :func:`svg_text`.
    name : str
        Name of the figure, unique on the page.
    alt : str
        What the figure shows, for those who do not see it.
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(url\(#|xlink:href="#)', rf"\g<1>{name}-", body)
    for light, (variable, _) in THEME.items():
        body = re.sub(rf"{light}\b", f"var(--{variable})", body, flags=re.IGNORECASE)
    head, _, rest = body.partition(">")
    view = re.search(r'viewBox="[^"]+"', head)
    attributes = f'{view.group() if view else ""} role="img" aria-labelledby="{name}-alt"'
    links = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    title = f'<title id="{name}-alt">{_escaped(alt)}</title>'
    return f"<svg {links} {attributes}>{title}{rest}"


def theme_css() -> str:
    """Return the style rules that give the colours of the drawings on light and on dark paper."""
    light = " ".join(f"--{name}: {color};" for color, (name, _) in THEME.items())
    dark = " ".join(f"--{name}: {color};" for name, color in THEME.values())
    return f":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
