"""PM801."""

from collections.abc import Iterator
from dataclasses import replace

from paramedic.record.facts import Exchange, Load, Wrapper
from paramedic.rules import Abstain, Evidence, Finding, Run, Where, rule
from paramedic.rules.support import at
from paramedic.rules.teams import Parting, exchanges, parted, team_of


@rule("PM801", "replicas-diverged", severity="error", needs=[Exchange], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """Ranks that should have the same weights have different ones.

    Compared at the steps of which all ranks have statistics: the first four, and some later ones. Models in a
    DistributedDataParallel, and those whose gradients the script sums over all ranks by `all_reduce`.

    ## Why it hurts
    DistributedDataParallel averages gradients, not weights: once they differ, they stay different. The model that is
    saved is that of one rank, moved by gradients that belong to others.

    ## What to try first
    Whatever changes weights must happen on every rank, in the same way: loading a checkpoint before wrapping, one
    learning rate and weight decay for all, no step skipped on one rank only, no random change of weights with a seed
    that differs.

    ## When this is wrong
    With `no_sync` or a communication hook ranks may differ on purpose (local SGD), and the rule abstains. Sharded
    parameters, buffers and parameters that the wrapper ignores are not compared.
    """
    team = team_of(run)
    if run is not team[0]:
        raise Abstain("the first rank's record answers for all")
    if any(member.steps != run.steps for member in team):
        raise Abstain("the ranks did not take equally many steps")
    if not all(member.samples("weight") for member in team):
        raise Abstain("no statistics of weights were taken (--budget 0)")
    found = exchanges(run)
    if any(exchange.apart for exchange in found):
        raise Abstain("gradients are exchanged in a way of the script's own (no_sync, or a communication hook)")
    for exchange in found:
        parting = next((p for member in team[1:] if (p := parted(run, member, exchange))), None)
        if parting is not None:
            yield _finding(run, exchange, parting)


def _finding(run: Run, exchange: Exchange, parting: Parting) -> Finding:
    by_hand = bool(exchange.by_hand)
    wrapper = None if by_hand else run.first(Wrapper)
    why, remedy = _reason(parting, by_hand)
    place = _loaded_alone(run, parting) or (wrapper or exchange).where
    if parting.gradient and wrapper is not None and wrapper.sync_set_at:
        place = at(wrapper, wrapper.sync_set_at)
        why = "their gradients were not averaged: the flag set here counts from the next call of the model on"
        remedy = "set require_backward_grad_sync before the model is called, not between the call and backward()"
    return Finding(
        what=f"{parting.name} is not the same on ranks {run.rank} and {parting.member.rank} at step {parting.step}: "
        f"its norm is {parting.mine:.6g} and {parting.theirs:.6g}",
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


def _reason(parting: Parting, by_hand: bool) -> tuple[str, str]:
    if parting.step == 0 and by_hand:
        return (
            "each rank began with random weights of its own, and only gradients are averaged",
            "for p in model.parameters(): dist.broadcast(p.data, src=0) once, or the same seed where it is built",
        )
    if parting.step == 0:
        return (
            "the ranks already began with different weights: wrapping makes them equal, so they were changed after it",
            "change or load weights before DistributedDataParallel(...), or on every rank alike",
        )
    if parting.gradient:
        return (
            "their gradients differ as well: they were not averaged, or changed after it",
            "call the wrapped model once per backward pass, and change gradients alike on every rank",
        )
    return (
        "their gradients were equal: the optimizers differ, or something else changed the weights",
        "use the same learning rate, weight decay and state of the optimizer on every rank",
    )
