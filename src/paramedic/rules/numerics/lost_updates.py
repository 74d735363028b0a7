"""PM110."""

import ast
import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from statistics import median

from paramedic.record.facts import Cast, Model, Optimizer
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.lines import argument_history, edited_at
from paramedic.rules.support import listed
from paramedic.static.history import Link
from paramedic.static.program import arguments_at, called, own_nodes, program
from paramedic.static.signs import name_of, names_any

_HALF = ("bfloat16", "float16")


@rule("PM110", "lost-updates", severity="warning", needs=[Optimizer], causes=["PM206", "PM207", "PM213", "PM405"])
def check(run: Run, *, share: float = 0.75, fewest: int = 3) -> Iterator[Finding]:
    """The optimizer steps, but most weights do not change, because the update is smaller than the rounding error.

    ## Why it hurts
    A bfloat16 number has 8 bits of precision: a weight of 0.1 cannot change by less than 0.0005. Smaller updates are
    rounded away every time, and training stops even though there are gradients.

    ## What to try first
    Keep the weights in float32 and compute in half precision: `torch.autocast(device, dtype=torch.bfloat16)` instead of
    `model.to(torch.bfloat16)`.

    ## When this is wrong
    Optimizers with stochastic rounding or compensated summation can train such weights; third-party optimizers are not
    judged. Steps at less than half of the highest learning rate, or with hardly any gradient left, are not counted:
    updates are meant to vanish when the rate is lowered or the model has converged.

    ## Options
    `share`: share of weights with a gradient that do not change in a typical step; `fewest`: fewest sampled steps.
    """
    types, since = _low_precision(run)
    if not types:  # of a large model it takes long to read all the samples
        raise Abstain("no low-precision weights are trained")
    gradients = {sample.step: sample.summaries for sample in run.samples("gradient")}
    lost, names = {}, set()
    norms: dict[int, float] = {}
    for sample in run.samples("update"):
        pairs = [
            (name, update, gradients.get(sample.step, {}).get(name))
            for name, update in sample.summaries.items()
            if name in types and sample.step >= since
        ]
        given = sum(g.count - g.zeros for _, _, g in pairs if g)
        moved = sum(update.count - update.zeros for _, update, g in pairs if g)
        if given:
            lost[sample.step] = 1 - min(moved, given) / given
            norms[sample.step] = math.hypot(*(g.norm for _, _, g in pairs if g))
            names |= {name for name, update, g in pairs if g and update.zeros > update.count / 2}
    if not lost:
        raise Abstain("no low-precision weights are trained")
    if len(lost) < fewest:
        raise Abstain(f"only {len(lost)} steps were sampled")
    if any(not event.torchs_own for event in run.facts(Optimizer)):
        raise Abstain("a third-party optimizer is used, which may do its own rounding")
    working = _at_work(run, norms)
    typical = _over_time(run, {step: lost[step] for step in working}, lost)
    if len(working) < fewest or typical < share:
        return
    kind = next(types[name] for name in sorted(names)) if names else "bfloat16"
    shown = _cast(run, kind, min(lost))
    yield Finding(
        what=f"in a typical step, {typical:.0%} of the {kind} weights that have a gradient do not change at all",
        why=f"the update is below the rounding error of {kind}; most updates are lost in {listed(sorted(names))}",
        remedy=f"keep the weights in float32 and use torch.autocast(dtype=torch.{kind}) around the forward pass",
        **edited_at(shown, _named_type(run, shown)),
        evidence=(
            Evidence(name="lost_share", value=round(typical, 3), limit=f"< {share:g}"),
            Evidence(name="sampled_steps", value=len(lost)),
        ),
        confidence=0.95,
    )


def _low_precision(run: Run) -> tuple[dict[str, str], int]:
    """The low-precision parameters that are trained, with their type, and the step at which this began."""
    types: dict[str, str] = {}
    since = 0
    for optimizer in run.facts(Optimizer):
        for group in optimizer.groups:
            low = {name: kind for name, kind in zip(group.parameters, group.types, strict=True) if kind in _HALF}
            since = max(since, optimizer.step) if low else since
            types |= low
    return types, since


def _at_work(run: Run, norms: dict[int, float], rate: float = 0.5, gradient: float = 0.1) -> list[int]:
    """The sampled steps in which the weights should move: near the highest rate, and while there is a gradient."""
    lowered = set()
    for optimizer in run.facts(Optimizer):
        course = run.series(f"lr:{optimizer.number}")
        if course and any(kind in _HALF for group in optimizer.groups for kind in group.types):
            told, rates = zip(*course, strict=True)
            now = {step: rates[max(0, bisect_right(told, step) - 1)] for step in norms}
            lowered |= {step for step in norms if now[step] < rate * max(rates)}
    usual = median(norms.values())
    return [step for step, norm in norms.items() if step not in lowered and norm >= gradient * usual]


def _over_time(run: Run, chosen: dict[int, float], sampled: Iterable[int]) -> float:
    """The median over the steps of the run: samples are dense at its start, so each counts for those until the next."""
    ends = dict(itertools.pairwise([*sorted(sampled), run.steps]))
    whole = sum(ends[step] - step for step in chosen)
    passed = 0
    for step, value in sorted(chosen.items(), key=lambda item: item[1]):
        passed += ends[step] - step
        if passed >= whole / 2:
            return value
    return 0.0


def _cast(run: Run, kind: str, step: int) -> Where:
    """Where the model became low-precision: the conversion, or else where it was built."""
    casts = [event for event in run.facts(Cast) if event.dtype == kind]
    event = casts[0] if casts else run.first(Model)
    return event.where if event is not None else Where(step=step, rank=run.rank)


def _named_type(run: Run, cast: Where) -> Link | None:
    """`DTYPE = torch.bfloat16`, if it is used only by conversions like this one.

    An autocast that uses the name needs it unchanged.
    """
    code = program(run)
    given = arguments_at(code, cast, ("to", "type"), 0, "dtype")
    nodes = [node for scope in code.scopes() for node in own_nodes(scope.body)]
    computed = [node for node in nodes if isinstance(node, ast.Call) and called(node) == "autocast"]
    if any(names_any(call, {name_of(node)}) for call in computed for node in given):
        return None
    made = argument_history(run, cast, ("to", "type"), 0, "dtype")
    return next((link for link in made if names_any(link.node, _HALF)), None)
