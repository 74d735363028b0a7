"""Models whose parameters are divided among ranks: by whom, and whether each rank has data of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import distributed, nn

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.untouched import attributes
from paramedic.record.facts import Sharding

FIRST_LOOK = 2  # steps


@probe("shards", states=[Sharding])
class Shards:
    """Looks now and then, until it has found something: nobody divides a model in the middle of its training."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._due = FIRST_LOOK

    @on(moments.step_taken)
    def _look(self) -> None:
        if self.watcher.step < self._due:
            return
        self._due = 4 * self.watcher.step
        if not distributed.is_available() or not distributed.is_initialized():
            return
        registry = self.watcher.registry
        for root in registry.roots():
            by, members = divided(root)
            if len(members) > 1:
                name = registry.root_name(root)
                self.watcher.state(
                    Sharding(name=name, by=by, members=members), site=registry.birth_site(root), key=name
                )


def divided(root: nn.Module) -> tuple[str, Sequence[int]]:
    """Among which ranks; none where the model is whole."""
    for _, module in anatomy.named_modules(root):
        group = _fsdp2_group(module) or _fsdp_group(module)
        if group is not None:
            return "data", distributed.get_process_group_ranks(group)
    for parameter in anatomy.parameters(root):
        group = _tensor_group(parameter)
        if group is not None:
            return "tensor", distributed.get_process_group_ranks(group)
    return "", ()


def _fsdp2_group(module: nn.Module) -> object:
    """The ranks among which `fully_shard` has divided a module's parameters."""
    if not any(base.__name__ == "FSDPModule" for base in type(module).__mro__):
        return None
    state: Any = module._get_fsdp_state()
    groups = getattr(state, "_fsdp_param_groups", None) or [getattr(state, "_fsdp_param_group", None)]
    return next((group.mesh_info.shard_process_group for group in groups if group is not None), None)


def _fsdp_group(module: nn.Module) -> object:
    legacy = any(base.__name__ == "FullyShardedDataParallel" for base in type(module).__mro__)
    return attributes(module).get("process_group") if legacy else None


def _tensor_group(parameter: Any) -> Any:
    """The ranks that hold parts of a DTensor."""
    if type(parameter).__name__ != "DTensor" and not hasattr(parameter, "placements"):
        return None
    dimension = next((n for n, placement in enumerate(parameter.placements) if placement.is_shard()), None)
    return parameter.device_mesh.get_group(dimension) if dimension is not None else None
