"""Find all rules, ours and installed third parties', and choose among them."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache

import paramedic.rules
from paramedic import voice
from paramedic.errors import ParamedicError, message_of
from paramedic.rules.rule import Rule, with_audit

FAMILIES = {
    "PM1": "numerics",
    "PM2": "optimisation",
    "PM3": "data",
    "PM4": "model and parameters",
    "PM5": "loss and objective",
    "PM6": "training and evaluation loop",
    "PM7": "speed and memory",
    "PM8": "distributed",
    "PM9": "reproducibility",
}


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, ordered by code."""
    rules = {rule.code: rule for rule in _own_rules()}
    for rule in _foreign_rules():
        if rule.code in rules or rule.code.startswith("PM"):
            voice.say(f"paramedic: the rule {rule.code} in {rule.file} is skipped: its code is already taken.")
            continue
        rules[rule.code] = rule
    return tuple(rules[code] for code in sorted(rules))


def find_rule(word: str) -> Rule:
    """The rule with this code or name."""
    for rule in all_rules():
        if word.lower() in (rule.code.lower(), rule.name):
            return rule
    raise ParamedicError(
        f"there is no rule {word!r}",
        expected="a code such as PM502 or a name such as softmax-before-cross-entropy",
        fix=_nearest(word) or "paramedic rules lists them all",
    )


def select(*, chosen: Sequence[str] = (), ignored: Sequence[str] = ()) -> tuple[Rule, ...]:
    """The rules whose code, name or code prefix is chosen (none given: all), less the ignored ones."""
    rules = all_rules()
    for word in (*chosen, *ignored):
        if not any(matches(rule, word) for rule in rules):
            find_rule(word)  # raises, with the nearest name
    return tuple(
        rule
        for rule in rules
        if (not chosen or any(matches(rule, word) for word in chosen))
        and not any(matches(rule, word) for word in ignored)
    )


def matches(rule: Rule, word: str) -> bool:
    return rule.name == word or rule.code.startswith(word.upper())


def _own_rules() -> Iterable[Rule]:
    for module in pkgutil.walk_packages(paramedic.rules.__path__, prefix="paramedic.rules."):
        yield from _rules_in(importlib.import_module(module.name))


def _foreign_rules() -> Iterable[Rule]:
    from importlib.metadata import entry_points  # slow to import, and not needed to print help

    for entry in entry_points(group="paramedic.rules"):
        try:
            loaded = entry.load()
            found = [loaded] if isinstance(loaded, Rule) else _rules_in(loaded)
        except (Exception, SystemExit) as error:  # another package's fault: it must not keep anyone from training
            package, why = entry.dist.name if entry.dist else entry.name, message_of(error).partition("\n")[0]
            voice.say(f"paramedic: the rules of {package} are skipped: {type(error).__name__}: {why}")
            continue
        yield from found


def _rules_in(module: object) -> list[Rule]:
    """A file may define `in_data(audit)` next to its rule: the same fault, found in the data alone."""
    found = [value for value in vars(module).values() if isinstance(value, Rule)]
    own = [rule for rule in found if rule.check.__module__ == getattr(module, "__name__", None)]
    in_data = getattr(module, "in_data", None)
    return [with_audit(rule, in_data) if in_data is not None else rule for rule in own]


def _nearest(word: str) -> str:
    words = [name for rule in all_rules() for name in (rule.code, rule.name)]
    close = difflib.get_close_matches(word if "-" in word else word.upper(), words, n=1) or difflib.get_close_matches(
        word.lower(), words, n=1
    )
    return f"did you mean {close[0]}?" if close else ""
