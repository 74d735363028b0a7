"""One call of a module, as probes pass it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paramedic.record.facts import EvalForward, ModePart, TrainForward
from paramedic.record.writer import Site


@dataclass(slots=True)
class Call:
    """One call of a module, from its forward pre-hook until it is known what became of its output."""

    module: Any  # the nn.Module; None once the call is over
    root: Any
    path: str
    site: Site
    training: bool
    grad: bool
    step: int
    paused: bool = False  # the function mode was taken off for the duration of this call
    cut_at: Site | None = None  # the line that turned gradients off, when a module that has them on called this one
    nodes: set[int] = field(default_factory=set)  # graph nodes of the outputs, by serial number
    loader: int | None = None
    repeated: bool = False  # the very same input for the third time within a step, as in Monte-Carlo dropout
    moody: list[ModePart] = field(default_factory=list)  # modules that differ in train() and eval()
    random: Any = None  # the random state before a top-level call without gradients
    drew: bool = False  # random numbers, in such a call
    borrowed: bool = False  # it ran with weights that are not its own (torch.func.functional_call)
    uses: set[str] = field(default_factory=set)  # "loss", "metric", "training": what its output was put to
    age: int = 0
    fed: bool = False  # a top-level call: its first module with weights was seen

    def became(self, kind: type[TrainForward] | type[EvalForward]) -> TrainForward | EvalForward:
        """The fact of this call, now that it is known what became of it."""
        return kind(
            training=self.training,
            grad=self.grad,
            moody=self.moody[:200],
            uses=tuple(sorted(self.uses)),
            loader=self.loader,
            repeated=self.repeated,
            drew=self.drew,
            borrowed=self.borrowed,
        )


Told = Callable[[Call, Any, Any, Any], None]  # a call that is over, its arguments, keyword arguments and output
