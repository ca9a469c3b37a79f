"""The plan of a season in a TOML file, with the hidden rules that are drawn for it.

``docs/board/hidden-seasons.md`` shows one. A replayed season has ``rules`` and ``trials``; a
hidden one has one trial per rule, and deals each rule to an account once, so that memory of a trial
does not help in another.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gnomon.text_files import read_toml
from gnomon_board.accounts import clean_text
from gnomon_board.drawn_rules import Difficulty, Progress, generate_rules, reason_against
from gnomon_board.errors import LeaderboardError, wrong_field
from gnomon_board.schema import Division, Season, SeasonRule
from gohr import ExperimentConfig, available_rules
from gohr.experiments import RuleEntry
from gohr.rules import rule_info

_Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
_Moment = datetime.datetime | datetime.date
#: Requirements for a rule from the file: playable, of any difficulty.
_ANY_CHANCE = Difficulty(chance=(0.001, 0.999))


def read_season(
    path: str | Path, *, rng: np.random.Generator, progress: Progress | None = None
) -> Season:
    """Return the season of a file, as a row that is not stored yet; rule files are relative to it.

    ``rng`` draws the hidden rules and their order; its seed must not be guessable. ``progress`` is
    called with the number of drawn rules and that of all.
    """

    def read(values: Mapping[str, Any]) -> Season:
        fields = _checked(values)
        hidden = fields.hidden
        own = fields.rules if hidden is None else hidden.rules
        config = _experiment(fields, own or ["anything-goes"], Path(path).parent)
        entries = list(config.rules) if own else []
        if hidden is None:
            rules = [_public(entry) for entry in entries]
        else:
            rules = _hidden(fields.name, entries, hidden, config, rng, progress)
        if not rules:
            raise LeaderboardError("field 'rules': expected at least one rule, found none")
        for position, rule in enumerate(rules):
            rule.position = position
        return Season(
            name=fields.name,
            title=clean_text(fields.title or fields.name, "title"),
            description=clean_text(fields.description),
            division=fields.division,
            board=config.to_record()["board"],
            trials=config.trials,
            episodes=config.episodes,
            horizon=config.horizon,
            rules_per_attempt=hidden and (hidden.rules_per_attempt or len(rules)),
            max_attempts=fields.max_attempts,
            opens_at=_utc(fields.opens),
            closes_at=_utc(fields.closes),
            rules=rules,
        )

    return read_toml(path, read, error=LeaderboardError)


class _HiddenFields(Difficulty):
    generate: Annotated[int, Field(strict=True, ge=0, le=500)] = 0
    rules: list[Any] = Field(default_factory=list, max_length=500)
    rules_per_attempt: _Count | None = None


class _SeasonFields(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=40)]
    title: Annotated[str, Field(max_length=120)] = ""
    description: Annotated[str, Field(max_length=4000)] = ""
    division: Division
    rules: list[Any] = Field(default_factory=list)
    board: dict[str, Any] | None = None
    trials: _Count | None = None
    episodes: _Count = 200
    horizon: _Count = 100
    max_attempts: _Count | None = None
    opens: _Moment | None = None
    closes: _Moment | None = None
    hidden: _HiddenFields | None = None


def _checked(values: Mapping[str, Any]) -> _SeasonFields:
    """Read the fields; raise LeaderboardError for the first invalid one."""
    try:
        fields = _SeasonFields.model_validate(dict(values))
    except ValidationError as errors:
        raise wrong_field(errors) from None
    if (fields.division == "hidden") != (fields.hidden is not None):
        wanted = "a table [hidden]" if fields.hidden is None else "no table [hidden]"
        raise LeaderboardError(f"division {fields.division!r}: expected {wanted}")
    if fields.hidden is not None:
        if fields.trials not in (None, 1):
            raise LeaderboardError(
                f"field 'trials': expected 1 in a hidden season, found {fields.trials}; each rule "
                "is dealt once; set the number of rules by rules_per_attempt in [hidden]"
            )
        if fields.rules:
            raise LeaderboardError(
                "field 'rules': expected none in a hidden season; move them to [hidden]"
            )
    opens, closes = _utc(fields.opens), _utc(fields.closes)
    if opens is not None and closes is not None and closes <= opens:
        raise LeaderboardError(f"field 'closes': expected a time after {opens:%Y-%m-%d %H:%M}")
    return fields


def _utc(moment: _Moment | None) -> datetime.datetime | None:
    """Return a time with its zone; a date means midnight, and the default zone is UTC."""
    if moment is None:
        return None
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


def _experiment(fields: _SeasonFields, rules: Sequence[Any], base: Path) -> ExperimentConfig:
    """Read rules, suites and boards as an experiment does."""
    record: dict[str, Any] = {
        "name": fields.name,
        "rules": rules,
        "learners": ["uniform"],
        "trials": fields.trials or (20 if fields.hidden is None else 1),
        "episodes": fields.episodes,
        "horizon": fields.horizon,
    }
    if fields.board is not None:
        record["board"] = fields.board
    return ExperimentConfig.from_record(record, base=base)


def _public(entry: RuleEntry) -> SeasonRule:
    rule = SeasonRule(name=entry.name, text=entry.text, visibility="public")
    if entry.name in available_rules() and RuleEntry.named(entry.name).hash == entry.hash:
        info = rule_info(entry.name)
        rule.family, rule.tags = info.family, list(info.tags)
    return rule


def _hidden(
    season: str,
    own: Sequence[RuleEntry],
    fields: _HiddenFields,
    config: ExperimentConfig,
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[SeasonRule]:
    """Return the hidden rules in random order, under uninformative names."""
    where: dict[str, Any] = {"board_spec": config.board, "horizon": config.horizon}
    for entry in own:
        reason = reason_against(entry.rule_set, _ANY_CHANCE, **where)
        if reason is not None:
            raise LeaderboardError(f"hidden rule {entry.name!r}: {reason}")
    rules = [(entry.text, list[str]()) for entry in own]
    if fields.generate:
        drawn = generate_rules(
            fields.generate,
            fields,
            not_like=[entry.rule_set for entry in own],
            rng=rng,
            progress=progress,
            **where,
        )
        rules += [(rule.text, list(rule.elements)) for rule in drawn]
    if not rules:
        raise LeaderboardError("field 'hidden': expected 'generate' or 'rules', found no rule")
    if (fields.rules_per_attempt or 0) > len(rules):
        raise LeaderboardError(
            f"field 'hidden.rules_per_attempt': expected at most {len(rules)}, the number of "
            f"rules, found {fields.rules_per_attempt}"
        )
    width = len(str(max(10, len(rules))))
    names = (f"{season}-h{place:0{width}d}" for place in range(1, len(rules) + 1))
    shuffled = (rules[i] for i in rng.permutation(len(rules)).tolist())
    return [
        SeasonRule(name=name, text=text, tags=tags, visibility="hidden")
        for name, (text, tags) in zip(names, shuffled, strict=True)
    ]


def secret_rng() -> np.random.Generator:
    """Return a generator with an unguessable seed, for hidden rules."""
    return np.random.default_rng(secrets.randbits(256))
