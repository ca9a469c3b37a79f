"""Citations of a season: BibTeX, and the Citation File Format."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import dataclass

_SUBJECT = "standings of a season of the Game of Hidden Rules"
_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%",
    "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


@dataclass(frozen=True)
class Citation:
    """A season as a reference: what it is called, of which state, from where.

    Parameters
    ----------
    season, title : str
    version : int
        Of the season: it counts every change.
    date : date
        When the season ended, or began if it goes on.
    url : str
        Of its standings; empty if the world has none.
    publisher : str
        Who runs the board.
    """

    season: str
    title: str
    version: int
    date: datetime.date
    url: str
    publisher: str

    @property
    def bibtex(self) -> str:
        r"""The entry for BibTeX.

        Examples
        --------
        >>> date = datetime.date(2026, 3, 2)
        >>> cited = Citation("spring", "50% {x}", 3, date, "https://b.org/seasons/spring", "b.org")
        >>> print(cited.bibtex, end="")
        @misc{gnomon-spring-v3,
          title = {{50\% \{x\}}: standings of a season of the Game of Hidden Rules},
          author = {{b.org}},
          year = {2026},
          version = {3},
          howpublished = {\url{https://b.org/seasons/spring}},
        }
        """
        fields = {
            "title": f"{{{_latex(self.title)}}}: {_SUBJECT}",
            "author": f"{{{_latex(self.publisher)}}}",
            "year": str(self.date.year),
            "version": str(self.version),
            "howpublished": rf"\url{{{self.url}}}" if self.url else "",
        }
        lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
        return f"@misc{{gnomon-{self.season}-v{self.version},\n{''.join(lines)}}}\n"

    @property
    def cff(self) -> str:
        r"""The file ``CITATION.cff`` (version 1.2.0), which archives that give DOIs read.

        Examples
        --------
        >>> date = datetime.date(2026, 3, 2)
        >>> text = Citation("spring", 'A "B"', 3, date, "https://b.org/s", "b.org").cff
        >>> print(text.splitlines()[3])
        title: "A \"B\": standings of a season of the Game of Hidden Rules"
        """
        fields = {
            "cff-version": "1.2.0",
            "message": "Cite the season in the version that you used.",
            "type": "dataset",
            "title": f"{self.title}: {_SUBJECT}",
            "version": str(self.version),
            "date-released": self.date.isoformat(),
            "url": self.url,
        }
        # A string of JSON is one of YAML, whatever stands in it.
        lines = [f"{name}: {json.dumps(value)}\n" for name, value in fields.items() if value]
        return "".join(lines) + f"authors:\n  - name: {json.dumps(self.publisher)}\n"


def _latex(text: str) -> str:
    return "".join(_SPECIAL.get(letter, letter) for letter in re.sub(r"\s+", " ", text))
