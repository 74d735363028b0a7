"""Which loaders are trained on, and which are evaluated on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from paramedic.record.facts import EvalForward, Fact, TrainForward
from paramedic.record.reader import Run

S = TypeVar("S", TrainForward, EvalForward)


def users(run: Run, kind: type[S]) -> dict[int, list[S]]:
    """Loaders by what was done with the outputs for their batches."""
    found: dict[int, list[S]] = {}
    for event in run.facts(kind):
        if event.loader is not None:
            found.setdefault(event.loader, []).append(event)
    return found


def training_before(evaluation: Sequence[Fact], trained: Mapping[int, Sequence[Fact]]) -> list[int]:
    """The loaders that the evaluated model was trained with: in a cross-validation, not those of other folds."""
    models = {event.module for event in evaluation}
    own = {n: events for n, events in trained.items() if any(event.module in models for event in events)}
    trained = own or trained  # what is evaluated may be a copy, or a whole of which a part was trained
    first = min(event.step for event in evaluation)
    spans = {n: (min(e.step for e in events), max(e.last_step for e in events)) for n, events in trained.items()}
    # What begins at the very step of the evaluation is what comes after it: the next fold. Unless nothing had begun.
    began = {n: span for n, span in spans.items() if span[0] < first}
    began = began or {n: span for n, span in spans.items() if span[0] <= first}
    latest = max((span[0] for span in began.values()), default=0)
    return [n for n, span in began.items() if span[1] >= latest]
