"""Loading weights: what a load_state_dict call matched, and whether anything changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.aliases import Fields, Function
from paramedic.capture import moments
from paramedic.capture.sources.snapshots import Snapshots
from paramedic.capture.watcher import Watcher
from paramedic.program.anatomy import state
from paramedic.program.untouched import entries
from paramedic.program.where import user_site
from paramedic.record.facts import Load, Snapshot

MOST_KEYS = 12


class Checkpoints:
    """Watches load_state_dict of modules and optimizers."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.snapshots = Snapshots(watcher)

    def install(self) -> None:
        watcher = self.watcher
        self.snapshots.install()

        def watched_module(original: Function) -> Function:
            def load(module: nn.Module, state_dict: Mapping[str, object], *args: object, **kwargs: object) -> object:
                before = watcher.ask("checkpoints", _compare, module, state_dict)
                snapshot = watcher.ask("checkpoints", self.snapshots.behind, module, state_dict)
                result = original(module, state_dict, *args, **kwargs)
                watcher.ask("checkpoints", self._loaded, module, state_dict, before, result, snapshot)
                return result

            return load

        def watched_optimizer(original: Function) -> Function:
            def load(optimizer: Optimizer, state_dict: Mapping[str, object]) -> object:
                before = watcher.ask("checkpoints", _rate, optimizer)
                result = original(optimizer, state_dict)
                watcher.ask("checkpoints", self._restored, optimizer, before)
                return result

            return load

        watcher.patches.wrap(nn.Module, "load_state_dict", watched_module)
        watcher.patches.wrap(torch.optim.Optimizer, "load_state_dict", watched_optimizer)

    def _restored(self, optimizer: Optimizer, before: float | None) -> None:
        now = _rate(optimizer)
        rates = () if before is None or now is None else (before, now)
        self.watcher.state(Load(into="optimizer", class_=type(optimizer).__name__, rates=rates), site=user_site())
        self.watcher.bus.tell(moments.optimizer_loaded, optimizer)

    def _loaded(
        self,
        module: nn.Module,
        state_dict: Mapping[str, object],
        before: tuple[int, int, int] | None,
        result: object,
        snapshot: Snapshot | None,
    ) -> None:
        own, given = state(module), dict(entries(state_dict))
        matched, different, matched_numel = before or (0, 0, 0)
        missing = list(getattr(result, "missing_keys", []))
        unexpected = list(getattr(result, "unexpected_keys", []))
        path, site = self.watcher.registry.path(module), user_site()
        self.watcher.bus.tell(moments.model_loaded, module, state_dict, path, site)
        self.watcher.state(
            Load(
                into="model",
                keys=len(own),
                numel=sum(value.numel() for value in own.values()),
                given=len(given),
                matched=matched,
                matched_numel=matched_numel,
                changed=different,
                missing=missing[:MOST_KEYS],
                unexpected=unexpected[:MOST_KEYS],
                missing_count=len(missing),
                unexpected_count=len(unexpected),
                **_left_over(own, given, missing, unexpected),
                snapshot=snapshot,
            ),
            site=site,
            module=path,
            phase="setup",
        )


def _rate(optimizer: Optimizer) -> float | None:
    """The highest learning rate of its groups."""
    rates = [group.get("lr") for group in optimizer.param_groups]
    return max((float(rate) for rate in rates if isinstance(rate, int | float)), default=None)


def _compare(module: nn.Module, state_dict: Mapping[str, object]) -> tuple[int, int, int]:
    """Entries of the state dict that the model has: how many, how many with other values, how many elements."""
    own = state(module)
    matched = [(own[key], value) for key, value in entries(state_dict) if _fits(own.get(key), value)]
    with torch.no_grad():
        different = sum(not torch.equal(mine, given.to(mine.device, mine.dtype)) for mine, given in matched)
    return len(matched), different, sum(mine.numel() for mine, _ in matched)


def _left_over(
    own: Mapping[str, torch.Tensor], given: Mapping[str, object], missing: list[str], unexpected: list[str]
) -> Fields:
    """How many values were left over, and how many of them would have had a place under another name."""
    places = Counter(_last_name_and_shape(key, own[key]) for key in missing if key in own)
    left = homeless = 0
    for key in unexpected:
        value = given.get(key)
        if isinstance(value, torch.Tensor):
            left += value.numel()
            place = _last_name_and_shape(key, value)
            homeless += value.numel() if places[place] <= 0 else 0
            places[place] -= 1
    return {"left_numel": left, "displaced_numel": left - homeless}


def _last_name_and_shape(key: str, value: torch.Tensor) -> tuple[str, torch.Size]:
    return key.rpartition(".")[2], value.shape


def _fits(mine: object, given: object) -> bool:
    return isinstance(mine, torch.Tensor) and isinstance(given, torch.Tensor) and mine.shape == given.shape
