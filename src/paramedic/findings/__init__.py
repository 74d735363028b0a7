"""What crosses the border between rules and reports: Finding, and the Diagnosis that ranks them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

from paramedic.frozen import dataclass

Severity = Literal["error", "warning", "note"]
Verdict = Literal["sick", "healthy", "inconclusive"]

SEVERITY_ORDER: Mapping[str, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """The place in the user's program that a fact or a finding is about."""

    file: str | None = None  # as the user would write it, relative to the working directory when inside it
    line: int | None = None
    function: str | None = None
    module: str | None = None  # dotted path of the nn.Module, starting with the variable's name
    step: int | None = None  # optimizer steps completed before it happened
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One measured value, and the limit it is judged against."""

    name: str
    value: Any
    limit: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One illness: what was measured, where, why it hurts and what to type."""

    what: str
    why: str
    remedy: str  # called "try" in JSON and on screen
    where: Where = field(default_factory=Where)
    evidence: tuple[Evidence, ...] = ()
    confidence: float = 0.9
    severity: Severity | None = None  # None: the rule's own severity
    code: str = ""  # filled in from the rule
    name: str = ""  # filled in from the rule
    consequence_of: str | None = None  # code of the finding that explains this one
    split: str | None = None  # the part of the data it is about, in an audit
    samples: tuple[int, ...] = ()  # their indices in the data set, worst first
    known: bool | None = None  # whether the baseline has it; None: no baseline was given

    def _repr_html_(self) -> str:
        """In a notebook."""
        from paramedic.findings.notebook import finding

        return finding(self)

    columns: tuple[str, ...] = ()  # of a table, by their names or numbers
    files: tuple[str, ...] = ()  # of the samples, where each is a file of its own
    also: tuple[Where, ...] = ()  # further places: `where` is the line to edit, here is where the fault shows


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """A rule that could not tell, and what it would have needed."""

    code: str
    reason: str
    blind: bool = False  # it applies, but what it looks at could not be seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """A rule that failed; the report goes on without it."""

    code: str
    error: str
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What the reports say about the run itself."""

    id: str
    record: str  # path of the run's folder
    script: str = ""
    command: str = ""
    steps: int = 0
    seconds: float = 0.0
    exit_code: int | None = None  # None: the run has not ended, or was killed
    overhead: float | None = None  # share of the run's time spent watching
    first_look: float | None = None  # seconds that the first, examined steps cost,
    around: float | None = None  # seconds before the script began and after it had ended,
    steady: float | None = None  # and the share of the run's time that watching took after them
    coverage: Mapping[str, int] = field(default_factory=dict)  # steps examined, watched, sampled
    started: float = 0.0  # seconds since the epoch
    ranks: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    losses: tuple[LossCurve, ...] = ()
    evaluations: tuple[LossCurve, ...] = ()  # losses without gradients, averaged over the batches of an evaluation
    progress: Progress | None = None  # of the only loss, if there is one
    times: tuple[TimeShare, ...] = ()  # where a step's time went
    models: tuple[str, ...] = ()  # "net: MLP, 85,002 parameters (85,002 trainable)"
    optimizers: tuple[str, ...] = ()  # "Adam, lr 0.001, 6 tensors"
    memory: tuple[str, ...] = ()  # "main process 812 MB at most", one line per process and device
    notices: tuple[str, ...] = ()  # what paramedic itself must confess: detached probes, lost events
    source: Mapping[str, str] = field(default_factory=dict)  # "train.py:41" -> the line's text
    samples: int | None = None  # of an audit: how many were looked at
    data: tuple[str, ...] = ()  # of an audit: what the data is, and what can be expected of it


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeShare:
    """One part of the training loop."""

    part: str  # "data", "forward" …
    seconds: float  # per step
    share: float  # of the time of a step


SLIGHT = 0.1  # share of the loss of guessing: who gets rid of less has learnt little


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Where a run's loss began and ended."""

    first: float
    last: float
    guessing: float | None = None  # the loss of a model that knows only the distribution of the targets
    learnt: bool | None = None  # None: the loss is not one whose value can be judged
    evaluation: float | None = None  # the last loss of the only evaluation
    best: tuple[int, float] | None = None  # step and loss, where the run ended much worse than it once was
    simple: str = ""  # what a simple model makes of the same samples, where this one learnt nothing

    @property
    def slight(self) -> bool:
        """Reliably better than guessing, but hardly: weak data, or a fault that no rule knows."""
        return bool(self.learnt) and self.guessing is not None and self.last > (1 - SLIGHT) * self.guessing > 0

    @property
    def trouble(self) -> str:
        """Why nobody can call this healthy, whatever the rules say."""
        if self.best is not None:
            step, loss = self.best
            return f"the loss had fallen to {loss:.4g} by step {step:,} and ended at {self.last:.4g}"
        if self.learnt is not False:
            return ""
        guess = f"; guessing gives {self.guessing:.4g}" if self.guessing is not None else ""
        return f"it did not learn: the loss went from {self.first:.4g} to {self.last:.4g}{guess}"


@dataclass(frozen=True, slots=True, kw_only=True)
class LossCurve:
    """The values of one loss at one backward() call site."""

    label: str  # "train.py:41"
    steps: tuple[int, ...]
    values: tuple[float, ...]  # NaN and infinities included


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """Everything a report may say: findings ranked, and what was and was not looked at."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    clear: tuple[str, ...]
    abstained: tuple[Abstention, ...]
    crashed: tuple[Crash, ...]
    run: RunFacts
    reason: str = ""  # why the verdict is inconclusive

    def _repr_html_(self) -> str:
        """In a notebook."""
        from paramedic.findings.notebook import render

        return render(self)

    @property
    def alarms(self) -> tuple[Finding, ...]:
        return tuple(f for f in self.findings if f.severity != "note")

    @property
    def new_alarms(self) -> tuple[Finding, ...]:
        """Those that the baseline, if there is one, does not know: what exit codes are about."""
        return tuple(f for f in self.alarms if not f.known)

    def count(self, severity: Severity) -> int:
        return sum(f.severity == severity for f in self.findings)
