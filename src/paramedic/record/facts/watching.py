"""Facts about the watching itself, and about experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramedic.record.facts.fact import Fact, fact


@fact("probe_failed", missing="no probe failed")
class ProbeFailed(Fact):
    """A probe that failed and was detached."""

    probe: str
    error: str
    kinds: Sequence[str] = ()  # of facts that are incomplete without it


@fact("gear", missing="everything could be examined")
class Gear(Fact):
    """What the watcher could not examine, and why."""

    reason: str
    unseen: str | None = None  # "calls"
    kinds: Sequence[str] = ()  # of facts that are incomplete therefore


@fact("intervention", missing="this run is not an experiment")
class Intervention(Fact):
    """Whether what an experiment changes was really changed."""

    applied: bool
    reason: str
    noted: Mapping[str, Any] | None = None  # what the experiment has found out on the way


@fact("experiment", missing="needs experiments (paramedic diagnose)")
class Trial(Fact):
    """One experiment and how it went. Losses are of the loss that was trained longest."""

    name: str
    changed: str
    status: str
    run: str  # folder of its record
    reason: str = ""  # why it did not run to its end
    steps: int = 0
    seconds: float = 0.0
    first: float | None = None
    last: float | None = None  # mean of the last fifth
    noise: float = 0.0  # standard error of `last`
    lowest: float | None = None  # of the smoothed curve
    finite: bool = True
    losses: int = 1  # how many are trained beside or against each other
    values: Sequence[float] = ()
    exam: float | None = None  # the loss on samples that were held out
    answer: Mapping[str, Any] | None = None  # of an experiment that is not a run
    noted: Mapping[str, Any] | None = None  # what was found out on the way
