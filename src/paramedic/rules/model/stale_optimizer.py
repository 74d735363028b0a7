"""PM407."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from paramedic.record.facts import Census, Forward, Model, Optimizer
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import edited_at, layers
from paramedic.rules.support import GRADIENT, TRAINABLE, listed, many, shape
from paramedic.static.calls import calls_of
from paramedic.static.history import Link
from paramedic.static.program import program
from paramedic.static.rebuilding import rebuilt_at

NAMELESS = "a tensor of shape"  # how a tensor is called that is no model's


@rule(
    "PM407",
    "stale-optimizer",
    severity="error",
    needs=[Optimizer, Census],
    causes=["PM402", "PM403", "PM405", "PM601"],
)
def check(run: Run, *, fewest: int = 3) -> Iterator[Finding]:
    """The optimizer holds tensors that are no longer the model's parameters.

    ## Why it hurts
    The optimizer was built first; then a layer was replaced, or the model rebuilt, copied or wrapped. It updates
    tensors that nothing uses, and the new ones are never trained.

    ## What to try first
    Build the model completely (new heads, `.to(device)`, wrapping) before building the optimizer.

    ## When this is wrong
    An optimizer over free tensors, such as an image being optimised, holds no module's parameters and is not
    reported as long as those tensors get gradients.

    ## Options
    `fewest`: examined steps in which the model's new parameters must have had a gradient.
    """
    sizes = {p.name: p.shape for m in run.facts(Model) for p in m.parameters}
    called = {(event.module or "").partition(".")[0] for event in run.facts(Forward)}
    told = set()
    for optimizer in run.facts(Optimizer):
        if optimizer.line in told:  # several of them are made by the same line: one finding for all
            continue
        if replaced := _replaced(run, optimizer, fewest):
            told.add(optimizer.line)
            yield replaced
            continue
        strangers = [size for group in optimizer.groups for size in group.strangers]
        idle = _idle(run, optimizer.number)
        if not strangers and not idle:
            continue
        if idle == optimizer.held and not strangers:
            names = [name for group in optimizer.groups for name in group.parameters]
            strangers = [sizes.get(name, []) for name in names if name.partition(".")[0] not in called]
        new = _outside(run, optimizer.number, fewest)
        if not strangers or not new or not idle:
            continue
        told.add(optimizer.line)
        yield Finding(
            what=f"the optimizer holds {many(len(strangers), 'tensor')} that no model uses "
            f"({listed([shape(s) for s in strangers])}), while {listed(new)} get gradients without an optimizer",
            why="these layers were replaced or rebuilt after the optimizer was built",
            remedy="build the optimizer after the last change to the model",
            **edited_at(optimizer.where, _ordered(run, optimizer, new)),
            evidence=(
                Evidence(name="tensors_not_in_a_model", value=len(strangers), limit="0"),
                Evidence(name="trained_without_optimizer", value=len(new), limit="0"),
            ),
            confidence=0.97,
        )


def _replaced(run: Run, optimizer: Optimizer, fewest: int) -> Finding | None:
    """Layers that were replaced during training: the optimizer holds tensors no longer in the model."""
    own = [census for census in run.facts(Census) if census.optimizer == optimizer.number]
    since = next((c for c in own if any(name.startswith(NAMELESS) for name in c.names)), None)
    if since is None or since is own[0]:
        return None
    before, after = own[own.index(since) - 1], own[own.index(since) :]
    pairs = zip(before.names, since.names, range(len(since.names)), strict=False)
    left = [i for was, now, i in pairs if now.startswith(NAMELESS) and not was.startswith(NAMELESS)]
    idle = [i for i in left if not any(c.flags[i] & GRADIENT for c in after if i < len(c.flags))]
    seen = Counter(name for c in after for name, flags in c.outside.items() if flags & TRAINABLE)
    new = [name for name, times in seen.items() if times >= min(fewest, len(after))]
    if not idle or not new or len(after) < 2:
        return None
    return Finding(
        what=f"since step {since.step:,} the optimizer holds {many(len(idle), 'tensor')} that left the model "
        f"(the old {listed([before.names[i] for i in idle])}), while the new {listed(new)} get gradients without an "
        "optimizer",
        why="these layers were replaced during training, and the optimizer still holds the old ones",
        remedy="build a new optimizer after replacing the layers, or add_param_group() the new ones",
        **edited_at(replace(optimizer.where, step=since.step), rebuilt_at(program(run), layers(new))),
        evidence=(
            Evidence(name="tensors_not_in_a_model", value=len(idle), limit="0"),
            Evidence(name="trained_without_optimizer", value=len(new), limit="0"),
        ),
        confidence=0.95,
    )


def _ordered(run: Run, optimizer: Optimizer, new: list[str]) -> Link | None:
    """If a helper builds the optimizer: the line that called it last before the layers were replaced."""
    code = program(run)
    helper, change = code.scope(optimizer.where.file, optimizer.where.line), rebuilt_at(code, layers(new))
    if helper is None or helper.function is None or change is None or helper == change.scope:
        return None
    calls = [call for call in calls_of(code, helper) if call.scope == change.scope and call.line <= change.line]
    return calls[-1] if calls else None


def _idle(run: Run, number: int) -> int:
    """Tensors of this optimizer that never had a gradient."""
    last = [census for census in run.facts(Census) if census.optimizer == number]
    if not last:
        return 0
    return sum(all(not c.flags[i] & 2 for c in last if i < len(c.flags)) for i in range(len(last[-1].flags)))


def _outside(run: Run, number: int, fewest: int) -> list[str]:
    """Parameters that had a gradient when this optimizer stepped, and that no optimizer held."""
    seen: Counter[str] = Counter()
    for census in run.facts(Census):
        if census.optimizer == number:
            seen.update({name for name, flags in census.outside.items() if flags & TRAINABLE})
    return [name for name, times in seen.items() if times >= fewest]
