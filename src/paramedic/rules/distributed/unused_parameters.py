"""PM804."""

from collections.abc import Iterator
from dataclasses import replace

from paramedic.findings import Where
from paramedic.record.facts import Freeze, ModuleCall, Owner, Unreduced, Wrapper
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at, listed, many, parameter_histories


@rule("PM804", "unused-parameters", severity="error", coverage=[Wrapper], causes=["PM402", "PM403", "PM405", "PM412"])
def check(run: Run) -> Iterator[Finding]:
    """DistributedDataParallel waits for gradients of parameters that the loss does not use.

    Every rank sends the gradients of all parameters that were trainable when the model was wrapped, bucket by bucket. A
    bucket with a missing gradient is never sent.

    ## Why it hurts
    The next forward pass fails with "Expected to have finished reduction in the prior iteration"; if the gradient is
    missing on some ranks only, the others wait forever. On a single device the same model trains without an error.

    ## What to try first
    Call the module in `forward`, or remove it. Freeze with `requires_grad_(False)` *before* wrapping. If a part is used
    only occasionally: `DistributedDataParallel(model, find_unused_parameters=True)`, which costs a graph traversal in
    each step.

    ## When this is wrong
    Reported only if the reduction was left unfinished. With `find_unused_parameters=True` or `static_graph=True`, and
    with parts frozen before wrapping, nothing is missing.
    """
    for unreduced in run.facts(Unreduced):
        yield _finding(run, unreduced)


def _finding(run: Run, unreduced: Unreduced) -> Finding:
    called = {call.module: call for call in run.facts(ModuleCall) if call.phase == "train"}
    used_before = {h.name for h in parameter_histories(run) if h.with_gradient} & set(unreduced.parameters)
    # The clearest case first: a layer that is never called, then a bare parameter, then a result that is not used.
    owners = sorted(unreduced.owners, key=lambda owner: 1 if owner.own else 2 * (owner.path in called))
    owner = owners[0] if owners else None
    call = called.get(owner.path) if owner is not None and not owner.own else None
    why, remedy = _reason(unreduced, owner, called=call is not None, used_before=bool(used_before))
    names = f": {listed(unreduced.parameters)}" if unreduced.parameters else ""
    return Finding(
        what=f"DistributedDataParallel never received gradients for {many(unreduced.tensors, 'parameter')}{names}",
        why=f"{why}, so the step was not finished when {unreduced.line} began a new one",
        remedy=remedy,
        where=_where(unreduced, owner, _frozen_at(run, unreduced) or call),
        evidence=(
            Evidence(name="parameters_without_gradient", value=unreduced.tensors, limit="0"),
            Evidence(name="find_unused_parameters", value=unreduced.find_unused),
        ),
        confidence=0.98,
    )


def _frozen_at(run: Run, unreduced: Unreduced) -> Freeze | None:
    names = set(unreduced.parameters) if unreduced.frozen else set()
    frozen = [event for event in run.facts(Freeze) if event.target == "parameter" and not event.value]
    return next((event for event in reversed(frozen) if names & set(event.names)), None)


def _where(unreduced: Unreduced, owner: Owner | None, call: Freeze | ModuleCall | None) -> Where:
    """The line that built the part, or the one that calls it without effect or froze it."""
    if owner is None:
        return unreduced.where
    place = at(unreduced, owner.site) if call is None else call.where
    return replace(place, module=owner.path, step=unreduced.where.step)


def _reason(unreduced: Unreduced, owner: Owner | None, *, called: bool, used_before: bool) -> tuple[str, str]:
    one = unreduced.tensors == 1
    it, it_is, it_was = ("it", "it is", "it was") if one else ("them", "they are", "they were")
    now_and_then = f"; if {it_is} skipped on purpose in some steps: find_unused_parameters=True"
    if unreduced.frozen:
        return (
            "requires_grad was turned off after the model was wrapped",
            "freeze first, then wrap: requires_grad_(False) before DistributedDataParallel(...)",
        )
    if unreduced.find_unused:
        return (
            f"{it_is} used only for an output of forward that the loss does not use",
            "return from forward only what the loss uses, or use all of it in the loss",
        )
    if used_before:
        return f"{it_was} used in earlier steps, but not in this one", f"use {it} in every step{now_and_then}"
    if owner is not None and not owner.own and not called:
        short = owner.path.partition(".")[2] or owner.path
        return (
            f"{owner.path} ({owner.class_}) is never called",
            f"call {short} in forward, or remove it{now_and_then}",
        )
    return f"no path leads from the loss back to {it}", f"let the loss use {it}, or remove {it}{now_and_then}"
