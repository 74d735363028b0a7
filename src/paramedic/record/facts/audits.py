"""Facts about data that was audited: what it is, and what the rules said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramedic.record.facts.fact import Fact, fact, part


@part
class Seen:
    """One measured value of a finding."""

    name: str
    value: Any
    limit: str = ""


@part
class Found:
    """One finding, as the rule gave it."""

    what: str
    why: str
    remedy: str
    severity: str
    confidence: float
    evidence: Sequence[Seen] = ()
    file: str | None = None  # where a script builds the loader
    line: int | None = None
    function: str | None = None
    split: str | None = None
    samples: Sequence[int] = ()
    columns: Sequence[str] = ()
    files: Sequence[str] = ()


@fact("answer", missing="no data was audited")
class Answer(Fact):
    """What a rule said of the data that was audited."""

    code: str
    outcome: str  # "found", "clear", "abstained" or "crashed"
    reason: str = ""  # of the last two
    findings: Sequence[Found] = ()


@fact("audited", missing="no data was audited")
class Audited(Fact):
    """Data that was audited."""

    title: str
    samples: int
    lines: Sequence[str]  # what the data is, and what can be expected of it
    notices: Sequence[str] = ()
    stopped: str = ""  # why it was not read to its end
    seconds: float = 0.0
    page: Mapping[str, Any] | None = None  # what a page shows of it: samples and distributions
