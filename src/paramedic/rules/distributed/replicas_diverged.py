"""PM801."""

from collections.abc import Iterator
from dataclasses import replace

from paramedic.record.facts import Exchange, Load, Optimizer, Wrapper
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.support import at
from paramedic.rules.teams import Parting, exchanges, parted, team_of

SETTINGS = {"lr": "learning rate", "weight_decay": "weight decay", "momentum": "momentum"}


@rule("PM801", "replicas-diverged", severity="error", needs=[Exchange], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Ranks that should have the same weights have different ones.

    Compared at the steps for which all ranks have statistics: the first four, and some later ones; by norms, and by
    checksums that depend on the order and the signs of the values. Applies to models in a DistributedDataParallel, and
    to those whose gradients the script sums over all ranks with `all_reduce`.

    ## Why it hurts
    DistributedDataParallel averages gradients, not weights: once they differ, they stay different. The saved model is
    that of one rank, updated with gradients that belong to others.

    ## What to try first
    Anything that changes weights must happen on every rank in the same way: load a checkpoint before wrapping, use the
    same learning rate and weight decay everywhere, skip no step on one rank only, change weights at random only with
    the same seed.

    ## When this is wrong
    With `no_sync` or a communication hook, ranks may differ on purpose (local SGD), and the rule abstains. Sharded
    parameters, buffers and parameters that the wrapper ignores are not compared.
    """
    team = team_of(run)
    if run is not team[0]:
        raise Abstain("reported on the first rank only")
    if any(member.steps != run.steps for member in team):
        raise Abstain("the ranks took different numbers of steps")
    if not all(member.samples("weight") for member in team):
        raise Abstain("no statistics of weights were taken (--budget 0)")
    found = exchanges(run)
    if any(exchange.apart for exchange in found):
        raise Abstain("the script exchanges gradients itself (no_sync, or a communication hook)")
    for exchange in found:
        parting = next((p for member in team[1:] if (p := parted(run, member, exchange))), None)
        if parting is not None:
            yield _finding(run, exchange, parting)


def _finding(run: Run, exchange: Exchange, parting: Parting) -> Finding:
    by_hand = bool(exchange.by_hand)
    wrapper = None if by_hand else run.first(Wrapper)
    why, remedy = _settings(run, parting) or _reason(parting, by_hand)
    place = _loaded_alone(run, parting) or _set_apart(run, parting) or (wrapper or exchange).where
    if parting.gradient and wrapper is not None and wrapper.sync_set_at:
        place = at(wrapper, wrapper.sync_set_at)
        why = "their gradients were not averaged: the flag set here takes effect at the next call of the model"
        remedy = "set require_backward_grad_sync before calling the model, not between the call and backward()"
    return Finding(
        what=f"{parting.name} differs between ranks {run.rank} and {parting.member.rank} at step {parting.step}: "
        f"{parting.words}",
        why=why,
        remedy=remedy,
        where=replace(place, module=exchange.name, step=parting.step),
        evidence=(
            Evidence(name=f"norm_on_rank_{run.rank}", value=parting.mine),
            Evidence(name=f"norm_on_rank_{parting.member.rank}", value=parting.theirs, limit="the same"),
        ),
        confidence=0.95,
    )


def _loaded_alone(run: Run, parting: Parting) -> Where | None:
    """The line that loaded weights on one of the two ranks only, where they differ from the start."""
    if parting.step > 0:
        return None
    mine, theirs = ({load.line: load.where for load in rank.facts(Load)} for rank in (run, parting.member))
    return next((where for line, where in {**theirs, **mine}.items() if (line in mine) != (line in theirs)), None)


def _set_apart(run: Run, parting: Parting) -> Where | None:
    """The optimizer whose settings differ."""
    optimizer = run.first(Optimizer)
    return optimizer.where if optimizer is not None and _settings(run, parting) else None


def _settings(run: Run, parting: Parting) -> tuple[str, str] | None:
    """A setting of the optimizers that differs, where the gradients did not."""
    mine, theirs = run.first(Optimizer), parting.member.first(Optimizer)
    if parting.gradient or parting.step == 0 or mine is None or theirs is None:
        return None
    for one, other in zip(mine.groups, theirs.groups, strict=False):
        for name, words in SETTINGS.items():
            here, there = getattr(one, name), getattr(other, name)
            if here != there and None not in (here, there):
                return (
                    f"their gradients were equal, but the {words} is {here:g} on rank {run.rank} and {there:g} on rank "
                    f"{parting.member.rank}",
                    f"use the same {words} on every rank",
                )
    return None


def _reason(parting: Parting, by_hand: bool) -> tuple[str, str]:
    if parting.step == 0 and by_hand:
        return (
            "each rank started with its own random weights, and only gradients are averaged",
            "for p in model.parameters(): dist.broadcast(p.data, src=0) once, or the same seed where it is built",
        )
    if parting.step == 0:
        return (
            "the ranks started with different weights: wrapping makes them equal, so they were changed after it",
            "change or load weights before DistributedDataParallel(...), or in the same way on every rank",
        )
    if parting.gradient:
        return (
            "their gradients differ as well: they were not averaged, or were changed afterwards",
            "call the wrapped model once per backward pass, and change gradients the same way on every rank",
        )
    return (
        "their gradients were equal: the optimizers differ, or something else changed the weights",
        "use the same learning rate, weight decay and optimizer state on every rank",
    )
