"""Which tasks a model can be asked: those whose inputs it takes and whose answers it has the shape for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paramedic.errors import ParamedicError
from paramedic.synth.catalogue import TASKS, find
from paramedic.synth.ladder import fits
from paramedic.synth.sampling import Source
from paramedic.synth.task import Task


def choose(
    make: Callable[[], object], names: Sequence[str], settings: Mapping[str, object]
) -> list[tuple[Task, Mapping[str, Any]]]:
    """The named tasks, or all that fit; settings that a task does not have are not for it."""
    if names:
        chosen = [find(name) for name in names]
        for task in chosen:
            if wrong := fits(make, task, settings):
                raise ParamedicError(
                    f"the model does not fit the task {task.name}: {wrong}",
                    expected=f"a model that takes {shape(task, settings)}",
                    fix=f"--set … ({', '.join(task.settings(None, {}))})",
                )
        return [(task, settings) for task in chosen]
    able = [task for task in TASKS.values() if set(settings) <= set(task.settings(None, {}))]
    fitting: list[tuple[Task, Mapping[str, object]]] = [
        (task, settings) for task in able if not fits(make, task, settings)
    ]
    if not fitting:
        raise ParamedicError(
            "no task fits this model as it is",
            expected="inputs and outputs of a task, whose sizes can be set: see `paramedic synth list`",
            fix="--task gaussians --set dims=20 --set classes=10 (with --task it says what does not fit)",
        )
    return fitting


def shape(task: Task, settings: Mapping[str, object]) -> str:
    inputs = Source(task, 1, settings, seed=0, split="random", part="train").arrays(1).inputs
    return f"{inputs.dtype} (batch, {', '.join(map(str, inputs.shape[1:]))})"
