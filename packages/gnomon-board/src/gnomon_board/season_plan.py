"""The plan of a season in a TOML file, with the hidden rules that are drawn for it.

``docs/board/hidden-seasons.md`` shows one. A replayed season has ``rules`` and ``trials``; a
hidden one has one trial per rule, and deals each rule to an account once, so that memory of a trial
does not help in another.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from gnomon.text_files import read_toml
from gnomon_board.accounts import clean_text
from gnomon_board.drawn_rules import Difficulty, Progress, generate_rules, reason_against
from gnomon_board.errors import LeaderboardError, wrong_field
from gnomon_board.schema import Division, Season, SeasonRule
from gohr import ExperimentConfig, available_rules
from gohr.experiments import RuleEntry
from gohr.rules import rule_info

_Count = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]


def _utc(moment: datetime.datetime | datetime.date) -> datetime.datetime:
    """Return a time with its zone; a date means midnight, and the default zone is UTC."""
    if not isinstance(moment, datetime.datetime):
        moment = datetime.datetime.combine(moment, datetime.time())
    return moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)


_Moment = Annotated[datetime.datetime | datetime.date, AfterValidator(_utc)]
#: Requirements for a rule from the file: playable, of any difficulty.
_ANY_CHANCE = Difficulty(chance=(0.001, 0.999))


def read_season(
    path: str | Path, *, rng: np.random.Generator, progress: Progress | None = None
) -> Season:
    """Return the season of a file, as a row that is not stored yet; rule files are relative to it.

    ``rng`` draws the hidden rules and their order: unseeded, it cannot be guessed. ``progress`` is
    called with the number of drawn rules and that of all.
    """

    def read(values: dict[str, Any]) -> Season:
        try:
            fields = _SeasonFields.model_validate(values)
        except ValidationError as errors:
            raise wrong_field(errors, _SeasonFields) from None
        hidden = fields.hidden
        own = fields.rules if hidden is None else hidden.rules
        # Rules, suites and boards are read as those of an experiment.
        record = fields.model_dump(include={"name", "episodes", "horizon", "board"})
        record |= {"rules": own or ["anything-goes"], "learners": ["uniform"]}
        record["trials"] = fields.trials or (20 if hidden is None else 1)
        config = ExperimentConfig.from_record(record, base=Path(path).parent)
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
            opens_at=fields.opens,
            closes_at=fields.closes,
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
    board: dict[str, Any] = Field(default_factory=dict)
    trials: _Count | None = None
    episodes: _Count = 200
    horizon: _Count = 100
    max_attempts: _Count | None = None
    opens: _Moment | None = None
    closes: _Moment | None = None
    hidden: _HiddenFields | None = None

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if (self.division == "hidden") != (self.hidden is not None):
            wanted = "a table [hidden]" if self.hidden is None else "no table [hidden]"
            raise LeaderboardError(f"division {self.division!r}: expected {wanted}")
        if self.hidden is not None:
            if self.trials not in (None, 1):
                raise LeaderboardError(
                    f"field 'trials': expected 1 in a hidden season, found {self.trials}; each "
                    "rule is dealt once; set the number of rules by rules_per_attempt in [hidden]"
                )
            if self.rules:
                raise LeaderboardError(
                    "field 'rules': expected none in a hidden season; move them to [hidden]"
                )
        opens, closes = self.opens, self.closes
        if opens is not None and closes is not None and closes <= opens:
            raise LeaderboardError(f"field 'closes': expected a time after {opens:%Y-%m-%d %H:%M}")
        return self


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
