"""Try the candidates: the one with which the live side does what the other does is the cause."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from paramedic.aliases import Args, Kwargs
from paramedic.parity.alignment import Pair
from paramedic.parity.causes import catalogue, inputs, operations, outputs, parameters, settings
from paramedic.parity.causes.candidate import Candidate, Labels
from paramedic.parity.fitting import like
from paramedic.parity.kinds import canonical
from paramedic.parity.locate import Fault, Matched
from paramedic.parity.measure import APART, Difference
from paramedic.parity.sides.torch_side import TorchSide
from paramedic.parity.trace import Layer, Tensors, Trace

MOST = 60  # candidates tried for one fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A candidate with which this fault is gone."""

    candidate: Candidate
    trace: Trace  # of the whole model, with the change
    error: Difference  # that is left at the place of the fault


def explain(
    fault: Fault, matched: Matched, side: TorchSide, run: Trials, labels: Labels, tolerance: float
) -> Tried | None:
    """The first candidate that removes the fault."""
    for candidate in itertools.islice(_candidates(fault, matched, labels, tolerance), MOST):
        trace = run.with_change(candidate)
        if trace is None:
            continue
        error = _left(fault, matched, trace)
        if error.relative <= tolerance:
            return Tried(candidate=candidate, trace=trace, error=error)
    return None


class Trials:
    """Runs the live side with a change. A change that the model cannot run with is no cause."""

    def __init__(self, side: TorchSide, args: Args, kwargs: Kwargs) -> None:
        self.side, self.args, self.kwargs = side, args, kwargs

    def with_change(self, candidate: Candidate) -> Trace | None:
        try:
            with self.side.changed((candidate.layer, candidate.change)):
                return self.side.trace(self.args, self.kwargs)
        except Exception:
            return None


def _left(fault: Fault, matched: Matched, trace: Trace) -> Difference:
    """What is left of the fault in another trace of the live side."""
    if fault.pair is None and fault.before is not None:
        again = _again(fault.before.b, trace)
        given = again.inputs if again else ()
        return _given(matched, given, fault.before)
    pair = fault.pair or fault.container
    if pair is matched.root or pair.b.name == "":
        return matched.between(trace.outputs, matched.reference.outputs)
    again = _again(pair.b, trace)
    if again is None:
        return APART
    left = matched.between(again.outputs, pair.a.outputs)
    if matched.crossing and canonical(pair.a.kind) != canonical(pair.b.kind):  # one layer here, several nodes there
        left = min(left, matched.nearest(again.outputs), key=lambda part: part.relative)
    return left


def _given(matched: Matched, given: Tensors, before: Pair) -> Difference:
    if not given:
        return APART
    left = matched.between(given, before.a.inputs)
    if matched.crossing and canonical(before.a.kind) != canonical(before.b.kind):
        left = min(left, matched.nearest(given), key=lambda part: part.relative)
    return left


def _again(layer: Layer, trace: Trace) -> Layer | None:
    return next((x for x in trace.layers if (x.name, x.call) == (layer.name, layer.call)), None)


def _candidates(fault: Fault, matched: Matched, labels: Labels, tolerance: float) -> Iterator[Candidate]:
    near = max(tolerance, 1e-9)
    if fault.pair is not None and not fault.pair.b.is_op:
        yield from settings.candidates(fault.pair, labels)
        yield from parameters.candidates(fault.pair, labels)
        if not matched.crossing and canonical(fault.pair.a.kind) != canonical(fault.pair.b.kind):
            yield from _other_kind(fault, labels)
        yield from catalogue.candidates(fault.pair.b, labels)
        yield from _output(fault.pair.b, fault.pair.a, matched, labels, near)
        return
    if not matched.crossing:
        yield from operations.candidates(fault, matched, labels)
    for layer in [fault.pair.b] if fault.pair else _suspects(fault, matched):
        yield from catalogue.candidates(layer, labels)
    if not matched.crossing or fault.container is not matched.root:
        yield from settings.candidates(fault.container, labels)
        yield from parameters.candidates(fault.container, labels)
    yield from inputs.candidates(fault, matched, labels, near=near)
    if matched.crossing:  # calls that the other framework does not show are no news
        yield from operations.candidates(fault, matched, labels)
    if fault.before is None:
        yield from _output(fault.container.b, fault.container.a, matched, labels, near)
        if fault.after is not None and not fault.after.b.is_op:
            yield from _output(fault.after.b, fault.container.a, matched, labels, near)


def _suspects(fault: Fault, matched: Matched) -> list[Layer]:
    """Layers of the live side in the guilty lines that have no partner of their own on the other side."""
    leaves = matched.actor.leaves
    start = leaves.index(fault.after.b) + 1 if fault.after and fault.after.b in leaves else 0
    stop = leaves.index(fault.before.b) if fault.before and fault.before.b in leaves else len(leaves)
    return leaves[start:stop][:8]


def _output(mine: Layer, other: Layer, matched: Matched, labels: Labels, near: float) -> Iterator[Candidate]:
    if mine.outputs and other.outputs:
        wanted = like(mine.outputs[0], other.outputs[0], crossing=matched.crossing)
        if wanted is not None:
            yield from outputs.candidates(mine, wanted, labels, near=near)


def _other_kind(fault: Fault, labels: Labels) -> Iterator[Candidate]:
    """Another activation in the same place: what the other one does is applied to the same input."""
    from paramedic.parity.changes import Change

    assert fault.pair is not None
    other, mine = fault.pair.a, fault.pair.b
    module = other.settings.get("module")
    if module is None:
        return
    first, second = sorted([(labels.reference, other.kind), (labels.mine, mine.kind)])
    yield Candidate(
        what=f"{first[0]} has {first[1]} where {second[0]} has {second[1]}",
        layer=mine,
        change=Change(words=f"{other.kind} in its place", on_output=lambda given, _: module(*given)),
    )
