"""What a comparison of two models has found: plain values, ready for every report."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerResult:
    """Two layers side by side. `local` is the error that this layer adds when both get the same input."""

    a: str
    b: str
    kind: str
    evidence: str  # what says that they belong together
    error: float
    local: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A place where the models diverge, and why, as far as it could be found out."""

    a: str
    b: str
    kind: str
    error: float
    largest: float
    index: tuple[int, ...]
    between: bool = False  # in the lines of the container, not in one of its layers
    place: str = ""  # file:line
    cause: str = ""
    default: str = ""  # what is known about the defaults of frameworks
    change: str = ""  # with which the models agree
    confirmed: bool = False
    agreement: float | None = None  # of the models' outputs with this change and those before it
    hints: tuple[str, ...] = ()  # when no cause was found


@dataclass(slots=True, kw_only=True)
class Comparison:
    """`verdict` is "agree", "rounding" or "differ"; `sentence` says it in words."""

    verdict: str
    sentence: str
    a: str
    b: str
    precision: str
    error: float  # of the outputs, in the most precise run
    working_error: float  # of the outputs as the models are
    tolerance: float
    parts: list[Part] = field(default_factory=list)
    layers: list[LayerResult] = field(default_factory=list)
    unmatched_a: list[str] = field(default_factory=list)
    unmatched_b: list[str] = field(default_factory=list)
    gradients: list[LayerResult] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def agrees(self) -> bool:
        return self.verdict != "differ"

    @property
    def first(self) -> Part | None:
        return self.parts[0] if self.parts else None

    def __str__(self) -> str:
        from paramedic.parity.report import render, story_of

        return render(story_of(self))
