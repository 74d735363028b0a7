"""Settings from [tool.paramedic] in pyproject.toml, or from paramedic.toml; the command line goes before both."""

from __future__ import annotations

import difflib
import os
import random
import time
import tomllib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from paramedic.errors import ParamedicError, shown
from paramedic.frozen import dataclass
from paramedic.paths import kind_of

RUNS_VARIABLE = "PARAMEDIC_RUNS"
DEFAULT_RUNS = ".paramedic/runs"
LARGEST = 10_000_000  # bytes of a settings file
_KEYS = ("select", "ignore", "runs", "rules", "startup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What is in force, and where it came from."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    runs: str = DEFAULT_RUNS
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # rule code or name -> options
    startup: str | None = None  # "module:function", called before the script
    source: str = "defaults"


def load_config(start: Path | None = None) -> Config:
    """The nearest settings file at or above `start`, or the defaults."""
    try:
        here = (start or Path.cwd()).resolve()
    except FileNotFoundError:
        raise ParamedicError(
            "the working directory has been deleted", expected="a folder that is there", fix="cd somewhere else"
        ) from None
    for folder in (here, *here.parents):
        for name in ("paramedic.toml", "pyproject.toml"):
            table = _read(folder / name)
            if table is not None:
                return _config(table, folder / name)
    return Config()


def runs_folder(config: Config, chosen: str | None = None) -> Path:
    """Where records go: the option, then the environment, then the settings."""
    folder = Path(chosen or os.environ.get(RUNS_VARIABLE) or config.runs)
    kind_of(folder)  # raises for what no folder can be called; one that cannot be written to does not stop a training
    return folder


def new_run_id() -> str:
    """Sorts by time, within a second too; the random end keeps apart what starts together.

    The system's generator is asked: the script's random state must not move.
    """
    now = time.time()
    second = time.strftime("%Y%m%d-%H%M%S", time.localtime(now))
    return f"{second}-{int(now % 1 * 16**4):04x}{random.SystemRandom().randrange(16**2):02x}"


def rule_options(config: Config) -> dict[str, dict[str, Any]]:
    """Options by rule code, checked against what the rules accept."""
    from paramedic.rules.catalogue import find_rule

    checked: dict[str, dict[str, Any]] = {}
    for word, options in config.rules.items():
        rule = find_rule(word)
        if not isinstance(options, dict):
            raise ParamedicError(
                f"{config.source}: rules.{word} is {shown(options)}",
                expected="a table of options",
                fix=f"paramedic explain {rule.code} shows one",
            )
        for key, value in options.items():
            if key in rule.options and not _same_kind(value, rule.options[key]):
                raise ParamedicError(
                    f"{config.source} sets the option {key!r} of {rule.code} to {shown(value)}",
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
        return isinstance(value, (int, float)) and value == value  # against NaN nothing is ever wrong
    return isinstance(value, type(default))


def _read(file: Path) -> dict[str, Any] | None:
    """The settings in a file; None where there is no file, or none of ours in it."""
    kind = kind_of(file)
    if kind is None:
        return None
    try:
        if kind != "file" or file.stat().st_size > LARGEST:
            raise ValueError(f"it is a {kind}" if kind != "file" else f"it is larger than {LARGEST:,} bytes")
        with file.open("rb") as stream:
            table = tomllib.load(stream)
    except (OSError, ValueError, RecursionError) as error:  # not UTF-8 and not TOML are both ValueErrors
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ParamedicError(
            f"{file} cannot be read: {why}", expected="a text in UTF-8 that is valid TOML", fix="correct that place"
        ) from None
    if file.name == "paramedic.toml":
        return table
    tool = table.get("tool", {})
    found = tool.get("paramedic") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise ParamedicError(
            f"{file}: tool.paramedic is {shown(found)}", expected="a table", fix="[tool.paramedic] on a line of its own"
        )
    return found


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
    if not isinstance(runs, str) or not runs or "\0" in runs:
        raise ParamedicError(
            f"{file}: runs is {shown(runs)}", expected="a folder's name", fix=f'runs = "{DEFAULT_RUNS}"'
        )
    if not isinstance(rules, dict):
        raise ParamedicError(
            f"{file}: rules is {shown(rules)}", expected="a table per rule", fix="[tool.paramedic.rules.PM502]"
        )
    startup = table.get("startup")
    if startup is not None and not (isinstance(startup, str) and ":" in startup):
        raise ParamedicError(
            f"{file}: startup is {shown(startup)}",
            expected="a module and a function in it",
            fix='startup = "module:function"',
        )
    return Config(
        startup=startup,
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
            f"{file}: {key} is {shown(value)}", expected="a list of rule codes or names", fix=f'{key} = ["PM412"]'
        )
    return tuple(value)
