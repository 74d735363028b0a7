"""All tasks, by name."""

from __future__ import annotations

import difflib

from paramedic.errors import ParamedicError
from paramedic.synth.task import Task
from paramedic.synth.tasks import (
    boxes,
    boxes3d,
    brackets,
    copying,
    friedman,
    gaussians,
    link,
    multilabel,
    parity,
    ranking,
    reversal,
    segments,
    series,
    shapes,
    sine,
    sorting,
)

_MODULES = (
    sine, friedman, gaussians, link, multilabel, ranking, series, shapes, segments, boxes, boxes3d,
    copying, reversal, sorting, parity, brackets,
)  # fmt: skip
TASKS: dict[str, Task] = {module.TASK.name: module.TASK for module in _MODULES}


def find(name: str) -> Task:
    if name in TASKS:
        return TASKS[name]
    near = difflib.get_close_matches(name, TASKS, n=1)
    raise ParamedicError(
        f"there is no task {name!r}" + (f"; did you mean {near[0]}?" if near else ""),
        expected=", ".join(TASKS),
        fix="paramedic synth list",
    )
