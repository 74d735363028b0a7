"""Compare two models: align, run in float64, find the first difference, name its cause, try it, go on behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paramedic.aliases import Args, Kwargs
from paramedic.parity.causes import catalogue
from paramedic.parity.causes.candidate import Labels
from paramedic.parity.causes.search import Trials, Tried, explain
from paramedic.parity.comparison import Comparison, LayerResult, Part
from paramedic.parity.fitting import like
from paramedic.parity.locate import Fault, Matched, first_fault
from paramedic.parity.rounding import SINGLE, is_constant, tolerance
from paramedic.parity.sides.side import Side, convert_inputs, open_side
from paramedic.parity.sides.torch_side import TorchSide
from paramedic.parity.trace import Layer, Trace

MOST_PARTS = 8


@dataclass(slots=True, kw_only=True)
class Runs:
    """Both sides run on the same inputs, as they are and, where possible, in float64."""

    a: Side
    b: Side
    args: Args
    kwargs: Kwargs
    working: tuple[Trace, Trace]
    precise: tuple[Trace, Trace]
    live: TorchSide | None  # the side that can be changed: b, when both could
    notes: list[str] = field(default_factory=list)

    @property
    def crossing(self) -> bool:
        return not (self.a.framework == self.b.framework == "torch")


def compare_models(a: object, b: object, inputs: object, *, names: Mapping[str, str] | None = None) -> Comparison:
    side_a, side_b = open_side(a, label="a"), open_side(b, label="b")
    args, kwargs = convert_inputs(inputs, side_a, side_b)
    runs = run_both(side_a, side_b, args, kwargs)
    turned = runs.live is side_a or (runs.live is not None and runs.live.label == "a")
    reference, actor = (runs.precise[1], runs.precise[0]) if turned else runs.precise
    labels = Labels(reference="b", mine="a") if turned else Labels(reference="a", mine="b")
    given = {y: x for x, y in (names or {}).items()} if turned else dict(names or {})
    matched = Matched(reference, actor, given, crossing=runs.crossing)
    noise = _noise(runs) if not (reference.double and actor.double) else 0.0
    allowed = tolerance(reference, actor, noise)
    parts, rest = _parts(matched, runs, labels, allowed, given)
    result = _summary(matched, runs, labels, allowed, parts, rest)
    result.notes = runs.notes
    return result


def run_both(a: Side, b: Side, args: Args, kwargs: Kwargs) -> Runs:
    first = a.trace(args, kwargs)
    if isinstance(a, TorchSide) and isinstance(b, TorchSide):
        b.tape = a.tape  # what a has drawn at random, b draws as well
    working = first, b.trace(args, kwargs)
    notes: list[str] = []
    precise, sides = list(working), [a, b]
    for number, side in enumerate((a, b)):
        try:
            sides[number] = side.double()
            precise[number] = sides[number].trace(args, kwargs)
        except Exception as error:
            sides[number] = side
            notes.append(f"{side.label} could not be run in float64 ({type(error).__name__}: {str(error)[:80]})")
    if not all(trace.double for trace in precise):  # float64 against float32 says no more than float32
        precise, sides = list(working), [a, b]
    live = next((side for side in reversed(sides) if isinstance(side, TorchSide)), None)
    return Runs(
        a=a, b=b, args=args, kwargs=kwargs, working=working, precise=(precise[0], precise[1]), live=live, notes=notes
    )


def _parts(
    matched: Matched, runs: Runs, labels: Labels, allowed: float, names: dict[str, str]
) -> tuple[list[Part], float]:
    """The differences in order. Each that is explained is removed by its change, and the search goes on behind it."""
    found: list[Part] = []
    while len(found) < MOST_PARTS:
        fault = first_fault(matched, allowed)
        if fault is None:
            return found, matched.outputs(matched.root).relative
        tried = None
        if runs.live is not None:
            trials = Trials(runs.live, runs.args, runs.kwargs)
            tried = explain(fault, matched, runs.live, trials, labels, allowed)
        if tried is None and is_constant(fault.error.relative) and allowed < SINGLE:
            allowed = SINGLE  # a constant that one side holds in float32; what is larger is looked for behind it
            continue
        found.append(_part(fault, tried, matched, labels, allowed))
        if tried is None or runs.live is None:
            return found, matched.outputs(matched.root).relative
        runs.live.keep(tried.candidate.layer, tried.candidate.change)
        matched = Matched(matched.reference, tried.trace, names, crossing=runs.crossing)
    return found, matched.outputs(matched.root).relative


def _part(fault: Fault, tried: Tried | None, matched: Matched, labels: Labels, allowed: float) -> Part:
    mine, other, between = _named(fault, matched)
    named = {labels.mine: mine, labels.reference: other}
    agreement = None
    cause, change, default = "", "", ""
    if tried is not None:
        agreement = matched.between(tried.trace.outputs, matched.reference.outputs).relative
        cause, change = tried.candidate.what, tried.candidate.change.words
        if tried.candidate.change.settings and matched.crossing:
            default = catalogue.default_of(fault.layer.kind, tried.candidate.change.settings[0][0])
    return Part(
        a=named["a"],
        b=named["b"],
        kind=fault.layer.kind,
        error=fault.error.relative,
        largest=fault.error.largest,
        index=fault.error.index,
        between=between,
        place=fault.pair.b.place if fault.pair else "",
        cause=cause,
        change=f"{change} in {labels.mine}" if change else "",
        default=default,
        confirmed=tried is not None,
        agreement=agreement,
        hints=() if tried else tuple(_hints(fault, labels)),
    )


def _named(fault: Fault, matched: Matched) -> tuple[str, str, bool]:
    """The names of the layer on the live and on the other side; of lines between layers, of their container."""
    if fault.pair is not None and not fault.pair.b.is_op:
        return fault.pair.b.title, fault.pair.a.title, False
    if fault.pair is not None:
        return fault.pair.b.parent, fault.pair.a.parent if fault.pair.a.is_op else fault.pair.a.title, True
    if fault.container is matched.root and matched.crossing and fault.before is not None:
        return fault.before.b.parent, fault.before.a.title, True
    return fault.container.b.name, fault.container.a.name, True


def _hints(fault: Fault, labels: Labels) -> list[str]:
    from paramedic.parity.causes.candidate import differing

    found = []
    pair = fault.pair or fault.container
    for name in differing(pair.a.settings, pair.b.settings):
        if name not in ("function", "module"):
            found.append(labels.versus(name, pair.a.settings[name], pair.b.settings[name]))
    if fault.pair is None and fault.before is not None:
        found.append(f"the lines before {fault.before.b.title} differ: it is given another input")
    elif fault.pair is None:
        found.append("its layers agree, its output does not")
    for layer in fault.unmatched[:4]:
        who = labels.mine if layer in fault.container.b.children else labels.reference
        found.append(f"only {who} has {layer.title}{f' ({layer.place})' if layer.place else ''}")
    return found


def _summary(
    matched: Matched, runs: Runs, labels: Labels, allowed: float, parts: list[Part], rest: float
) -> Comparison:
    before = matched.outputs(matched.root).relative
    working = matched.between(runs.working[1].outputs, runs.working[0].outputs).relative
    both = runs.precise[0].double and runs.precise[1].double
    if both and is_constant(before) and not any(part.confirmed for part in parts):
        parts = []  # at most a constant that one side holds in float32
        verdict = "agree" if before == working == 0 else "rounding"
    else:
        verdict = "differ" if before > allowed else "agree" if working == 0 else "rounding"
    mine, other = {id(p.b) for p in matched.pairs}, {id(p.a) for p in matched.pairs}
    alone = {
        labels.mine: [x.title for x in matched.actor.leaves if id(x) not in mine and not x.is_op],
        labels.reference: [x.title for x in matched.reference.leaves if id(x) not in other and not x.is_op],
    }
    return Comparison(
        verdict=verdict,
        sentence=_sentence(verdict, parts, before, rest, both),
        a=f"{runs.a.framework}",
        b=f"{runs.b.framework}",
        precision="float64" if both else "as the models are",
        error=before,
        working_error=working,
        tolerance=allowed,
        parts=parts,
        layers=_layers(matched, runs, labels, allowed),
        unmatched_a=alone["a"],
        unmatched_b=alone["b"],
    )


def _sentence(verdict: str, parts: list[Part], before: float, rest: float, both: bool) -> str:
    if verdict == "agree":
        return "The models agree: their outputs are equal, bit for bit."
    if verdict == "rounding":
        how = (
            f"in float64 they agree to {before:.0e}" if both else f"they agree to {before:.0e}, which rounding explains"
        )
        return f"The models agree up to rounding: {how}."
    where = parts[0].b or parts[0].a or "the model itself" if parts else "an unknown place"
    lead = f"The models differ, first in {where}"
    if all(part.confirmed for part in parts) and parts:
        changes = "this change" if len(parts) == 1 else f"these {len(parts)} changes"
        return f"{lead}. With {changes} they agree to {rest:.0e}."
    return f"{lead}. Their outputs are {before:.1e} apart (relative)."


def _layers(matched: Matched, runs: Runs, labels: Labels, allowed: float) -> list[LayerResult]:
    """Every pair, with the error that each layer adds by itself: it gets what its partner got."""
    results = []
    for pair in matched.pairs:
        if pair.b.is_op and pair.a.is_op:
            continue
        names = {labels.mine: pair.b.title, labels.reference: pair.a.title}
        results.append(
            LayerResult(
                a=names["a"],
                b=names["b"],
                kind=pair.b.kind,
                evidence=pair.evidence,
                error=matched.outputs(pair).relative,
                local=_local(pair.a, pair.b, matched, runs.live),
            )
        )
    return results


def _local(other: Layer, mine: Layer, matched: Matched, live: TorchSide | None) -> float | None:
    if live is None or len(other.inputs) < len(mine.inputs) or mine.is_op:
        return None
    given = [like(x, y, crossing=matched.crossing) for x, y in zip(mine.inputs, other.inputs, strict=False)]
    if any(tensor is None for tensor in given):
        return None
    try:
        with live.unchanged():
            outputs = live.call(mine, tuple(tensor for tensor in given if tensor is not None))
    except Exception:
        return None  # it cannot be run by itself
    return matched.between(outputs, other.outputs).relative


def _noise(runs: Runs) -> float:
    """How far rounding alone takes the live side's outputs, where it can be measured."""
    if not isinstance(runs.live, TorchSide):
        return 0.0
    exact = runs.live.double().trace(runs.args, runs.kwargs)
    mine = runs.working[0] if runs.live.label == "a" else runs.working[1]
    from paramedic.parity.measure import difference, worst

    return worst([difference(x, y) for x, y in zip(mine.outputs, exact.outputs, strict=False)]).relative
