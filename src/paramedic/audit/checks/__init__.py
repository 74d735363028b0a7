"""One file per illness that audits and runs can both find; those that only audits can find are rules in rules/data."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from paramedic.rules.rule import Rule


def all_checks(rules: Iterable[Rule]) -> list[Rule]:
    """What to ask an audit, of the chosen rules: a rule that reads runs is replaced by its check, if it has one."""
    checks = {}
    for module in pkgutil.iter_modules(__path__, prefix=f"{__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, Rule):
                checks[value.code] = value
    chosen = {rule.code: rule for rule in rules}
    own = [rule for rule in chosen.values() if rule.reads == "audit"]
    return sorted([*own, *(check for code, check in checks.items() if code in chosen)], key=lambda rule: rule.code)
