"""Optimizers as the record knows them: their groups, their learning rates, whose parameters they hold."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.optim import Optimizer

from paramedic.capture.sources.ledger import Account, Backward
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.facts import Discard, Group, Rates, StaleBackward, Step
from paramedic.record.facts import Optimizer as OptimizerFact
from paramedic.record.writer import Site


def describe_optimizer(watcher: Watcher, optimizer: Optimizer, account: Account, site: Site, born: bool) -> None:
    """After its first watched step. Born: it was made under our eyes.

    Fresh: it had not stepped before. An optimizer that keeps no state does not show that, unless we saw it made.
    """
    registry = watcher.registry
    names = registry.parameter_names()
    live = {id(p) for root in registry.roots() for p in anatomy.parameters(root)}
    groups = [
        Group(
            lr=float(group["lr"]) if "lr" in group else None,
            weight_decay=float(group.get("weight_decay") or 0.0),
            decoupled=group.get("decoupled_weight_decay") is True,
            momentum=float(group.get("momentum") or 0.0),
            parameters=[registry.parameter_name(p) for p in group["params"]],
            types=[str(p.dtype).removeprefix("torch.") for p in group["params"]],
            strangers=[list(p.shape) for p in group["params"] if id(p) not in names],
            frozen=sum(not p.requires_grad for p in group["params"]),
        )
        for group in optimizer.param_groups
    ]
    watcher.state(
        OptimizerFact(
            number=account.number,
            class_=type(optimizer).__name__,
            torchs_own=type(optimizer).__module__.startswith("torch.optim"),
            groups=groups,
            fresh=account.empty and (born or bool(optimizer.state)),
            held=sum(len(group["params"]) for group in optimizer.param_groups),
            in_models=sum(id(p) in live for group in optimizer.param_groups for p in group["params"]),
        ),
        site=site,
        phase="setup",
    )


def note_rates(watcher: Watcher, optimizer: Optimizer, account: Account) -> None:
    """Keep the learning rate's course (of the first group), and the highest one of each group."""
    rates = [group.get("lr") for group in optimizer.param_groups]
    if rates == account.rates:
        return
    account.rates = rates
    _raise_highest(optimizer, account)
    if rates and isinstance(rates[0], (int, float)):
        watcher.writer.point(f"lr:{account.number}", watcher.step, float(rates[0]))


def _raise_highest(optimizer: Optimizer, account: Account) -> None:
    rates = [group.get("lr") for group in optimizer.param_groups]
    numbers = [rate if isinstance(rate, (int, float)) else None for rate in rates]
    highest = account.highest_rates or numbers
    account.highest_rates = [
        max(a, b) if a is not None and b is not None else None for a, b in zip(highest, numbers, strict=False)
    ]


def tell_step(
    watcher: Watcher, account: Account, site: Site, gradients: str, *, scaled: bool = False, closure: bool = False
) -> None:
    """A step is taken with gradients that are new, old, none, or untouched by the backward passes since the last."""
    fact = Step(optimizer=account.number, gradients=gradients, scaled=scaled, closure=closure, first=account.steps == 0)
    watcher.state(fact, site=site, phase="train", key=(account.number, site, gradients, scaled, closure))


def tell_discard(watcher: Watcher, account: Account, backward: Backward, site: Site) -> None:
    """Gradients were cleared that no optimizer has used."""
    watcher.state(
        Discard(
            optimizer=account.number,
            measured=backward.measured,
            backward_file=backward.site.file,
            backward_line=backward.site.line,
        ),
        site=site,
        phase="train",
        key=(backward.site, site, backward.measured),
    )


def tell_stale(watcher: Watcher, account: Account, backward: Backward, soiled: list[torch.Tensor]) -> None:
    """A step whose gradients are known to be its own, or known to lie on top of used ones."""
    watcher.state(
        StaleBackward(
            optimizer=account.number,
            parameters=[watcher.registry.parameter_name(p) for p in soiled],
            stale=bool(soiled),
        ),
        site=backward.site,
        phase="train",
        key=(backward.site, account.number, bool(soiled)),
    )


def tell_end(watcher: Watcher, optimizer: Optimizer, account: Account) -> None:
    """The highest learning rates, and which parameters were ever updated."""
    _raise_highest(optimizer, account)  # a group may have been woken in steps that nobody watched
    names = watcher.registry.parameter_names()
    used = [p for g in optimizer.param_groups for p in g["params"] if p.grad is not None or optimizer.state.get(p)]
    watcher.state(
        Rates(
            optimizer=account.number, highest=account.highest_rates, used=[names[id(p)] for p in used if id(p) in names]
        ),
        phase="train",
    )


def holds_only(optimizer: Optimizer, identities: set[int]) -> bool:
    """Whether all of its parameters are among these (ids)."""
    held = [p for group in optimizer.param_groups for p in group["params"]]
    return bool(held) and all(id(p) in identities for p in held)


def stood_for(wrapper: Optimizer, known: Iterable[Optimizer]) -> list[Optimizer]:
    """What an optimizer stands for that never steps itself, as Lightning's: it has the other's very groups."""
    groups = getattr(wrapper, "param_groups", None)
    return [optimizer for optimizer in known if groups is not None and optimizer.param_groups is groups]
