"""The parts of a model that can be replaced one by one: the outermost modules that are called and trained."""

from __future__ import annotations

from paramedic.record.facts import Model, ModuleCall
from paramedic.rules import Run

MOST = 4
DEEPEST = 4  # a model inside of a model inside of a model


def parts_of(run: Run) -> tuple[str, ...]:
    """Their paths inside of the largest model, in the order of their calls."""
    models = run.facts(Model)
    if not models:
        return ()
    model = max(models, key=lambda one: sum(parameter.numel for parameter in one.parameters))
    owned = [_below(model.name, parameter.name) for parameter in model.parameters if parameter.requires_grad]
    called = sorted((call for call in run.facts(ModuleCall) if call.grad), key=lambda call: call.order)
    paths = [path for call in called if (path := _below(model.name, call.module or ""))]
    paths = [path for path in dict.fromkeys(paths) if any(name.startswith(f"{path}.") for name in owned)]
    for depth in range(1, DEEPEST):
        above = [path for path in paths if path.count(".") < depth]
        innermost = [path for path in above if not any(other.startswith(f"{path}.") for other in above)]
        if len(innermost) > 1:
            return tuple(innermost[:MOST])
    return ()


def _below(model: str, path: str) -> str:
    return path.removeprefix(f"{model}.") if path.startswith(f"{model}.") else ""
