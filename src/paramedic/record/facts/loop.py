"""Facts about the training loop: backward passes, their use, and the order of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paramedic.record.facts.fact import Fact, fact
from paramedic.record.site import Site


@fact("backward", missing="backward() was never called")
class Backward(Fact):
    """A backward() call."""

    scalar: bool
    leaf: bool  # the loss has no history
    function: str | None = None  # the loss function behind it
    direct: bool = False  # nothing but that function lies between it and the model
    averaged: bool = False  # the last thing done to it was a mean over everything: nobody divided it afterwards
    parameters: int | None = None  # of models that it reaches
    leaves: int | None = None
    nodes: int | None = None


@fact("loop", missing="no optimizer took a step")
class Loop(Fact):
    """One kind of cycle of the training loop, in call order."""

    ops: Sequence[Sequence[Any]]  # name, file, line, function, optimizers and what else is known of each call


@fact("stale_backward", missing="backward() was never called")
class StaleBackward(Fact):
    """Whether a step used gradients added to ones already used."""

    optimizer: int
    parameters: Sequence[str]
    stale: bool


@fact("discard", missing="backward() was never called")
class Discard(Fact):
    """Gradients cleared before any step used them."""

    optimizer: int
    measured: bool  # the program looked at them, as clipping does
    backward_file: str | None = None
    backward_line: int | None = None


@fact("unstepped", missing="every optimizer that got gradients took a step")
class Unstepped(Fact):
    """An optimizer that took no step in the whole run; its parameters are as they were when gradients first came."""

    class_: str
    held: int  # parameters


@fact("mixture", missing="no step used the gradients of another optimizer's pass")
class Mixture(Fact):
    """A step on gradients of a pass that another optimizer had used."""

    optimizer: int
    first: Site  # the earlier pass
    cosine: float  # between the gradients of both


@fact("cut", missing="no call was examined")
class Cut(Fact):
    """A call that ends the gradient's path."""

    op: str
    parameters: Sequence[str]  # that lie behind it


@fact("seed", missing="no seed was set")
class Seed(Fact):
    """A random seed being set."""

    library: str
    seed: int | None = None
    caller: Site | None = None


@fact("exception", missing="the script ended without an exception")
class Ended(Fact):
    """The exception that ended the script."""

    type: str
    message: str
    cause: str = ""
    exit_codes: Mapping[str, int] | None = None  # of ranks, as their launcher knows them
