"""The decorator for checks: a rule about runs gets a second source of evidence, the data itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace

from paramedic.audit.audit import Audit
from paramedic.findings import Finding
from paramedic.rules.catalogue import find_rule
from paramedic.rules.rule import Rule

Check = Callable[[Audit], Iterator[Finding]]


def check(code: str) -> Callable[[Check], Rule]:
    """Look for the illness `code` in an audit. Its name, severity and documentation are those of the rule."""

    def declare(function: Check) -> Rule:
        return replace(
            find_rule(code),
            check=function,
            needs=(),
            options={},
            reads="audit",
            file=inspect.getsourcefile(function) or "",
        )

    return declare
