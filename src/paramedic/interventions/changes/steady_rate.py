"""The learning rate held at what it was set to, whatever a schedule makes of it."""

from __future__ import annotations

from torch.optim import Optimizer

from paramedic.interventions.surroundings import Surroundings


def install(surroundings: Surroundings, argument: str) -> None:
    surroundings.reason = "the learning rate does not change"
    surroundings.patience = None  # it may change late
    before: dict[int, list[object]] = {}
    first: dict[tuple[int, int], object] = {}

    def enter(optimizer: Optimizer) -> None:
        before[id(optimizer)] = [group["lr"] for group in optimizer.param_groups]
        for number, group in enumerate(optimizer.param_groups):
            # Schedulers of torch keep there what the script has set: a warm-up begins with less.
            set_to = first.setdefault((id(optimizer), number), group.get("initial_lr", group["lr"]))
            surroundings.applied += group["lr"] != set_to
            group["lr"] = set_to

    def leave(optimizer: Optimizer) -> None:
        for group, rate in zip(optimizer.param_groups, before.pop(id(optimizer), []), strict=False):
            group["lr"] = rate  # schedulers go on from the rate that they have set

    surroundings.around_steps(enter, leave)
