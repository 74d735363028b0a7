"""The decorator that turns a function into a rule."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from paramedic.findings import Finding, Severity
from paramedic.frozen import dataclass
from paramedic.record.facts import Fact, all_kinds, known_as
from paramedic.record.reader import Run
from paramedic.rules.coverage import Extent
from paramedic.rules.reading import reads

CODE = re.compile(r"[A-Z]{2,6}\d{3}")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
HEADINGS = ("Why it hurts", "What to try first", "When this is wrong")

Check = Callable[..., Iterator[Finding]]


class Abstain(Exception):
    """Raised by a rule that cannot tell, with the reason shown to the user."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A check with its metadata; `documentation` is the check's docstring."""

    code: str
    name: str
    severity: Severity  # the highest one it gives; a finding may be milder
    needs: tuple[type[Fact], ...]  # kinds of facts that it judges by; without them it abstains
    coverage: tuple[type[Fact] | Extent, ...]  # what must have happened before "nothing found" means anything
    causes: tuple[str, ...]  # codes of findings that this illness explains
    symptom: bool  # a symptom is explained by any other illness that alarms
    lasting: bool  # something was seen to happen, which no later step can undo: told while the run goes on
    check: Check
    options: Mapping[str, Any]
    file: str
    reads: Literal["run", "audit"] = "run"  # what `check` is given
    in_data: Check | None = None  # the same illness, looked for in an audit

    @property
    def on_audits(self) -> Check | None:
        """What to ask an audit."""
        return self.check if self.reads == "audit" else self.in_data

    @property
    def looks_at(self) -> frozenset[str]:
        """All that it may ask a run for, in the names that `Run.read` notes."""
        declared = {known_as(kind).name for kind in (*self.needs, *self.coverage) if isinstance(kind, type)}
        return reads(self.check) | declared

    @property
    def documentation(self) -> str:
        return inspect.cleandoc(self.check.__doc__ or "")

    @property
    def summary(self) -> str:
        return self.documentation.partition("\n")[0]


def rule(
    code: str,
    name: str,
    *,
    severity: Severity,
    needs: Sequence[type[Fact]] = (),
    coverage: Sequence[type[Fact] | Extent] = (),
    causes: Sequence[str] = (),
    symptom: bool = False,
    lasting: bool = False,
    reads: Literal["run", "audit"] = "run",
) -> Callable[[Check], Rule]:
    """Declare a rule. Keyword-only arguments of the function with defaults are its options."""

    def declare(check: Check) -> Rule:
        if not CODE.fullmatch(code):
            raise ValueError(f"{code!r} is not a rule code: letters and three digits, such as PM502")
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a rule name: kebab-case, such as softmax-before-cross-entropy")
        unknown = [each for each in (*needs, *coverage) if not isinstance(each, Extent) and each not in all_kinds()]
        if unknown:
            raise ValueError(f"{code} needs {unknown[0]!r}, which is not a kind of fact")
        return Rule(
            code=code,
            name=name,
            severity=severity,
            needs=tuple(needs),
            coverage=tuple(coverage),
            causes=tuple(causes),
            symptom=symptom,
            lasting=lasting,
            check=check,
            options=dict(check.__kwdefaults__ or {}),
            file=check.__code__.co_filename,
            reads=reads,
        )

    return declare


def with_audit(rule: Rule, in_data: Check) -> Rule:
    """The rule with a second source of evidence; options of one name are one option."""
    return replace(rule, in_data=in_data, options={**(in_data.__kwdefaults__ or {}), **rule.options})


def known_to(check: Check, options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the rule's options that this check has."""
    return {name: value for name, value in options.items() if name in (check.__kwdefaults__ or {})}


def missing_need(rule: Rule, run: Run, options: Mapping[str, Any]) -> str | None:
    """Why the rule has to abstain from this run, if it has to."""
    for needed in (*rule.needs, *rule.coverage):
        if isinstance(needed, type):
            lacking = None if run.facts(needed) else known_as(needed).missing
        else:
            lacking = needed.lacking(run, {**rule.options, **options})
        if lacking is not None:
            return lacking
    return None
