"""The rules that a template makes, and the files that they become."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gnomon._io.atomic_file import write_atomically
from gnomon.errors import GnomonError, RuleSyntaxError
from gnomon.rules.templates import (
    GeneratedRule,
    available_templates,
    generate,
    load_template,
)

__all__ = ["rules_of", "template_records", "write_rules"]

#: What a file system takes as a name, ``.txt`` included, in bytes.
_LONGEST_NAME = 255
_SENTENCE = "# sentence:"


def template_records() -> list[dict[str, str | int]]:
    """Return a record for each template of the library: its name, how many rules, what they do."""
    records: list[dict[str, str | int]] = []
    for name in available_templates():
        text = load_template(name)
        said = [line for line in text.split("\n") if line.startswith(_SENTENCE)]
        sentence = said[0].removeprefix(_SENTENCE).strip() if said else ""
        n_rules = sum(1 for _ in generate(text, name=name))
        records.append({"template": name, "rules": n_rules, "sentence": sentence})
    return records


def rules_of(template: str) -> list[GeneratedRule]:
    """Return the rules of a template of the library, or of a file; errors name it."""
    text = load_template(template)
    try:
        return list(generate(text, name=Path(template).stem))
    except RuleSyntaxError:
        raise
    except GnomonError as error:
        raise GnomonError(f"{template}: {error}") from None


def write_rules(family: Sequence[GeneratedRule], folder: Path, *, overwrite: bool) -> None:
    """Write each rule to a file of its name; nothing at all if one of the files is in the way.

    Raises
    ------
    GnomonError
        If a name is none for a file, or a file holds something else and may not be replaced.
    """
    files = {folder / _file_name(rule.name): rule.text for rule in family}
    if folder.exists() and not folder.is_dir():
        raise GnomonError(f"{folder}: expected a folder, found a file")
    in_the_way = [path for path, text in files.items() if path.exists() and _differs(path, text)]
    if in_the_way and not overwrite:
        more = f" and {len(in_the_way) - 1} more" if len(in_the_way) > 1 else ""
        raise GnomonError(
            f"{in_the_way[0]}{more}: there is such a file, with another text; "
            "take another folder, or --overwrite"
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        try:
            write_atomically(path, text.encode())
        except OSError as error:
            raise GnomonError(f"{path}: cannot write this rule: {error.strerror}") from None


def _file_name(rule_name: str) -> str:
    """Return the name of a rule's file, which must not lead out of its folder."""
    name = f"{rule_name}.txt"
    wrong = any(c in "/\\" or not c.isprintable() for c in name) or name.startswith(".")
    if wrong or len(name.encode()) > _LONGEST_NAME:
        raise GnomonError(f"expected a name for a file in '# name:', found {rule_name!r}")
    return name


def _differs(path: Path, text: str) -> bool:
    return not path.is_file() or path.read_bytes() != text.encode()
