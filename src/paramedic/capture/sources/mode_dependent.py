"""The modules of a model that behave differently in train() and eval(): dropout, BatchNorm."""

from __future__ import annotations

from torch import nn

from paramedic.capture.facts import own_parameters
from paramedic.program import anatomy
from paramedic.program.anatomy import full_name
from paramedic.record.facts import ModePart


def mode_dependent_modules(root: nn.Module, name: str) -> list[ModePart]:
    """The modules that behave differently in train() and eval()."""
    return [
        ModePart(
            path=full_name(name, path, root),
            class_=type(module).__name__,
            training=module.training,
            trainable=any(p.requires_grad for p in own_parameters(module).values()),
            weights=bool(own_parameters(module)),
            norm=isinstance(module, nn.modules.batchnorm._NormBase),
        )
        for path, module in anatomy.named_modules(root)
        if _depends_on_mode(module)
    ]


def _depends_on_mode(module: nn.Module) -> bool:
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return module.p > 0
    if isinstance(module, nn.RNNBase):
        return module.dropout > 0 and module.num_layers > 1
    if isinstance(module, nn.MultiheadAttention):
        return module.dropout > 0
    return isinstance(module, nn.modules.batchnorm._BatchNorm) and module.track_running_stats
