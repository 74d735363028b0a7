"""What crosses the borders inside the lab: an experiment, how it is to be run, and how it went."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from paramedic.aliases import Fields

Status = Literal["ended", "stopped", "crashed", "hung", "out of memory", "not applied", "interrupted"]
RAN: tuple[Status, ...] = ("ended", "stopped")


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One thing that is changed, and nothing else."""

    name: str
    changed: str  # in words
    order: str  # of interventions, see interventions/; empty: the script does not run at all
    asks: str  # the question that it answers
    steps: int | None = None  # instead of as many as the baseline took


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """All that the process of an experiment has to know; can be written as JSON."""

    script: str
    args: tuple[str, ...]
    is_module: bool
    folder: str  # of the record
    settings: Fields
    cwd: str
    original: str | None  # the user's folder of which `cwd` is a copy
    threads: int

    def as_dict(self) -> Fields:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How an experiment went. Losses are of the loss that was trained longest."""

    name: str
    changed: str
    status: Status
    run: str  # folder of its record
    reason: str = ""  # why it did not run to its end
    steps: int = 0
    seconds: float = 0.0
    first: float | None = None
    last: float | None = None  # mean of the last fifth
    noise: float = 0.0  # standard error of `last`
    lowest: float | None = None  # of the smoothed curve
    finite: bool = True
    losses: int = 1  # how many losses are trained beside or against each other
    values: tuple[float, ...] = ()
    exam: float | None = None  # the loss on samples that were held out
    answer: dict[str, object] | None = None  # of an experiment that is not a run
    noted: Fields | None = None  # what the intervention has found out on the way

    @property
    def ran(self) -> bool:
        return self.status in RAN and self.last is not None

    @property
    def folder(self) -> Path:
        return Path(self.run)
