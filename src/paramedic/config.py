"""Settings from [tool.paramedic] in pyproject.toml, or from paramedic.toml; the command line goes before both."""

from __future__ import annotations

import difflib
import os
import random
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError

RUNS_VARIABLE = "PARAMEDIC_RUNS"
DEFAULT_RUNS = ".paramedic/runs"
_KEYS = ("select", "ignore", "runs", "rules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What is in force, and where it came from."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    runs: str = DEFAULT_RUNS
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # rule code or name -> options
    source: str = "defaults"


def load_config(start: Path | None = None) -> Config:
    """The nearest settings file at or above `start`, or the defaults."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        for name in ("paramedic.toml", "pyproject.toml"):
            table = _read(folder / name)
            if table is not None:
                return _config(table, folder / name)
    return Config()


def runs_folder(config: Config, chosen: str | None = None) -> Path:
    """Where records go: the option, then the environment, then the settings."""
    return Path(chosen or os.environ.get(RUNS_VARIABLE) or config.runs)


def new_run_id() -> str:
    """Sorts by time; the random part keeps runs of the same second apart without touching the script's random state."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{random.SystemRandom().randrange(16**4):04x}"


def rule_options(config: Config) -> dict[str, dict[str, Any]]:
    """Options by rule code, checked against what the rules accept."""
    from paramedic.rules.catalogue import find_rule

    checked: dict[str, dict[str, Any]] = {}
    for word, options in config.rules.items():
        rule = find_rule(word)
        if not isinstance(options, dict):
            raise ParamedicError(
                f"{config.source}: rules.{word} is {options!r}",
                expected="a table of options",
                fix=f"paramedic explain {rule.code} shows one",
            )
        for key, value in options.items():
            if key in rule.options and not _same_kind(value, rule.options[key]):
                raise ParamedicError(
                    f"{config.source} sets the option {key!r} of {rule.code} to {value!r}",
                    expected=f"a value like its default, {rule.options[key]!r}",
                    fix=f"paramedic explain {rule.code}",
                )
            if key not in rule.options:
                known = ", ".join(rule.options) or "none"
                raise ParamedicError(
                    f"{config.source} sets the option {key!r} of {rule.code}, which has no such option",
                    expected=f"one of its options: {known}",
                    fix=f"paramedic explain {rule.code}",
                )
        checked[rule.code] = dict(options)
    return checked


def _same_kind(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    if isinstance(default, (int, float)):
        return isinstance(value, (int, float))
    return isinstance(value, type(default))


def _read(file: Path) -> dict[str, Any] | None:
    try:
        with file.open("rb") as stream:
            table = tomllib.load(stream)
    except FileNotFoundError:
        return None
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ParamedicError(
            f"{file} cannot be read: {error}", expected="valid TOML", fix="correct that line"
        ) from None
    if file.name == "paramedic.toml":
        return table
    found = table.get("tool", {}).get("paramedic")
    return found if isinstance(found, dict) else None


def _config(table: Mapping[str, Any], file: Path) -> Config:
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, n=1)
            raise ParamedicError(
                f"{file} has the unknown setting {key!r}",
                expected=f"one of {', '.join(_KEYS)}",
                fix=f"did you mean {near[0]}?" if near else "remove it",
            )
    runs, rules = table.get("runs", DEFAULT_RUNS), table.get("rules", {})
    if not isinstance(runs, str):
        raise ParamedicError(f"{file}: runs is {runs!r}", expected="a folder's name", fix=f'runs = "{DEFAULT_RUNS}"')
    if not isinstance(rules, dict):
        raise ParamedicError(
            f"{file}: rules is {rules!r}", expected="a table per rule", fix="[tool.paramedic.rules.PM502]"
        )
    return Config(
        select=_words(table, "select", file),
        ignore=_words(table, "ignore", file),
        runs=runs,
        rules=rules,
        source=str(file),
    )


def _words(table: Mapping[str, Any], key: str, file: Path) -> tuple[str, ...]:
    value = table.get(key, [])
    if not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
        raise ParamedicError(
            f"{file}: {key} is {value!r}", expected="a list of rule codes or names", fix=f'{key} = ["PM412"]'
        )
    return tuple(value)
