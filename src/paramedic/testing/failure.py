"""What a failed assertion says: what was measured, and the cause with its code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paramedic.findings import Finding

# Codes of the catalogue that need a stored reference, which only tests have.
ONLY_HERE = {"PM902": "run-differs-from-reference", "PM904": "quality-regressed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Why an assertion failed, as far as it can be told."""

    what: str
    remedy: str
    code: str = ""  # of the rule that describes it; empty when no rule does
    where: str = ""  # "train.py:41" or a module's path

    @property
    def name(self) -> str:
        from paramedic.rules.catalogue import all_rules

        known = {rule.code: rule.name for rule in all_rules()}
        return known.get(self.code) or ONLY_HERE.get(self.code, "")


class CheckFailed(AssertionError):
    """An assertion of paramedic.testing that does not hold. `code` is that of the most likely cause."""

    def __init__(self, check: str, what: str, causes: Sequence[Cause] = ()) -> None:
        self.check, self.what, self.causes = check, what, tuple(causes)
        super().__init__(_message(check, what, self.causes))

    @property
    def code(self) -> str:
        return next((cause.code for cause in self.causes if cause.code), "")


def cause_of(finding: Finding) -> Cause:
    """A rule's finding as a cause."""
    where = finding.where
    place = f"{where.file}:{where.line}" if where.file and where.line else where.module or ""
    return Cause(code=finding.code, what=finding.what, remedy=finding.remedy, where=place)


def _message(check: str, what: str, causes: tuple[Cause, ...]) -> str:
    lines = [f"{check}: {what}"]
    for cause in causes:
        if cause.code:
            lines.append(f"  cause  {cause.code} {cause.name}".rstrip())
        lines.append(f"  what   {cause.what}")
        if cause.where:
            lines.append(f"  where  {cause.where}")
        lines.append(f"  try    {cause.remedy}")
    if causes and causes[0].code and causes[0].code not in ONLY_HERE:
        lines.append(f"  more   paramedic explain {causes[0].code}")
    return "\n".join(lines)
