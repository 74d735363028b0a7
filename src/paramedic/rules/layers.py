"""Layers as the record knows them: in the order in which they run, with the line that builds them."""

from __future__ import annotations

from paramedic.findings import Where
from paramedic.record.facts import Model, ModuleCall
from paramedic.record.reader import Run


def depth_order(run: Run) -> list[str]:
    """The weight matrices of the largest model, first layer first; without embeddings, whose gradients are sparse."""
    models = run.facts(Model)
    if not models:
        return []
    model = max(models, key=lambda event: sum(p.numel for p in event.parameters))
    embeddings = {m.path for m in model.modules if m.class_.startswith("Embedding")}
    calls: dict[str | None, int] = {}
    for call in run.facts(ModuleCall):
        if call.grad:
            calls.setdefault(call.module, call.order)
    matrices = [
        p.name for p in model.parameters if len(p.shape) > 1 and p.requires_grad and p.name.rpartition(".")[0] in calls
    ]
    matrices = [name for name in matrices if name.rpartition(".")[0] not in embeddings]
    return sorted(matrices, key=lambda name: calls[name.rpartition(".")[0]])


def built_at(run: Run, module: str) -> Where:
    """The line that builds a module."""
    for model in run.facts(Model):
        for known in model.modules:
            if known.path == module and known.file:
                return Where(file=known.file, line=known.line, module=module, rank=run.rank)
    return Where(module=module or None, rank=run.rank)
