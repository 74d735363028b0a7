"""The moments of training that sources tell of, and what they tell.

A moment is told to each listener as a call, not as an object: many come thousands of times per second, and one that
nobody listens to must cost nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Generic, ParamSpec

import torch
from torch import nn
from torch.autograd.graph import Node
from torch.optim import Optimizer
from torch.utils.data import DataLoader

from paramedic.aliases import Args, Kwargs
from paramedic.capture.inquest.randomness import RandomState
from paramedic.record.facts import EvalForward, ModePart, TrainForward
from paramedic.record.writer import Site

P = ParamSpec("P")


class Moment(Generic[P]):
    """A kind of moment; `P` is what its listeners are told."""

    def __init__(self, source: str) -> None:
        self.source = source  # the probe's name of who tells: without it, nobody hears of the moment


@dataclass(slots=True)
class Call:
    """One call of a module, from its forward pre-hook until it is known what became of its output."""

    module: nn.Module  # both are None once the call is over: what is remembered must not keep the model alive
    root: nn.Module
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
    random: RandomState | None = None  # the random state before a top-level call without gradients
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


@dataclass(slots=True)
class Lap:
    """One step of the training loop, from the end of the previous one."""

    step: int  # steps completed at its end
    seconds: float
    parts: dict[str, float]
    steps: int = 1  # more than one when steps in between ran untimed; then the parts are not known
    watched: bool = True  # the batches of this step were looked at
    examined: bool = False
    marks: set[str] = field(default_factory=set)  # "epoch", "evaluation": what else happened meanwhile
    seen: list[Site] = field(default_factory=list)  # lines of the user's code seen at work, a few per second


# Modules, while examining: the call, its arguments, its keyword arguments, its output.
module_called = Moment[[Call, Args, Kwargs, object]]("module_calls")
first_layer_called = Moment[[Call, Args, Kwargs, object]]("module_calls")  # of a model: the first with weights
model_called = Moment[[Call, Args, Kwargs, object]]("module_calls")  # a top-level call of a module with parameters
module_entered = Moment[[str]]("module_calls")  # its path; "" where none is running

# Losses: the function's name, the predictions, the targets.
loss_called = Moment[[str, torch.Tensor, torch.Tensor]]("losses")
labels_seen = Moment[[Site, torch.Tensor, torch.Tensor, int]]("losses")  # where, labels, predictions, ignore_index
loss_computed = Moment[[str, torch.Tensor]]("losses")  # the function's name, and its value with a graph
loss_measured = Moment[[torch.Tensor, float]]("losses")  # a value without a graph, as an evaluation computes it

# Backward passes.
pass_followed = Moment[[set[Node]]]("backward")  # the graph nodes that an examined pass goes through
loss_ready = Moment[[torch.Tensor, Site]]("backward")  # an examined pass is about to begin: the loss, where
bad_loss = Moment[[]]("backward")  # the first value that is not finite

# Optimizers and their steps.
step_examined = Moment[[Optimizer, int, bool]]("loop")  # about to come: the optimizer, its number, has it a closure
step_examined_after = Moment[[Optimizer, int, dict[int, int], set[int]]]("loop")  # who holds what; what was written
step_sampled = Moment[[Optimizer, bool]]("loop")  # about to come: the optimizer, has it a closure
step_sampled_after = Moment[[Optimizer, bool, int]]("loop")  # the same, and the number of steps so far
step_taken = Moment[[]]("loop")  # examined or watched
round_over = Moment[[]]("loop")  # of a loop in which no optimizer steps
steps_matched = Moment[[]]("loop")  # now and then while matching

# Checkpoints.
model_loaded = Moment[[nn.Module, Mapping[str, object], str, Site]]("checkpoints")  # model, state dict, path, where
optimizer_loaded = Moment[[Optimizer]]("checkpoints")

# Data.
loader_met = Moment[[int, DataLoader]]("data_loaders")  # for the first time: its number, the loader
pass_began = Moment[[int, DataLoader]]("data_loaders")  # over a loader: its number, the loader
first_batch_given = Moment[[int, int, object]]("data_loaders")  # of a pass: loader, pass, indices of the samples
batch_arrived = Moment[[]]("data_loaders")
batch_given = Moment[[list[tuple[str, tuple[int, ...], str]]]]("data_loaders")  # path, shape and type of its tensors
batch_shapes = Moment[[list[list[int]], bool]]("data_loaders")  # for the log: shapes; does it serve an evaluation

# Modes.
dropout_tied = Moment[[bool]]("dropout")  # functional dropout that follows train() and eval(): training?

# Compilers.
about_to_compile = Moment[[object]]("compilers")  # what torch.compile was given
output_handed_over = Moment[[str, torch.Tensor]]("compiled_outputs")  # a module's name, its output within a graph

# Time.
nothing_moved = Moment[[FrameType, float]]("stall")  # told by another thread, several times per second: since when
lap_over = Moment[[Lap]]("clock")
evaluation_timed = Moment[[float]]("clock")  # a batch of an evaluation came: its seconds so far
trained_after_all = Moment[[]]("clock")  # the batch that seemed to be one of an evaluation goes into a backward pass

# Processes.
forked = Moment[[str]]("watcher")  # in the child, whose record has this name
trainer_changed = Moment[[]]("watcher")  # in another thread, which is the one that trains from now on

# The end.
about_to_fail = Moment[[BaseException]]("watcher")  # an exception that nobody caught, in a process not of ours
run_over = Moment[[]]("watcher")
run_failed = Moment[[BaseException]]("watcher")  # after that, where the script ended with an exception
