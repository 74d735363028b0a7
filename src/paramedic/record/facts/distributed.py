"""Facts about models that are trained on several ranks."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site


@fact("wrapper", missing="no DistributedDataParallel is used")
class Wrapper(Fact):
    """A model wrapped for training on several ranks."""

    class_: str
    find_unused: bool
    static: bool
    members: Sequence[int]  # ranks
    sync_set_at: Site | None = None  # the line that switches the exchange off by hand


@fact("exchange", missing="no copies of one model were trained on several ranks (parts of a sharded one are none)")
class Exchange(Fact):
    """How a wrapped model was used so far."""

    entered: bool  # it was called, and not only the model inside
    apart: bool  # its gradients are exchanged in another way
    ignored: Sequence[str]  # parameters
    name: str | None = None
    by_hand: bool = False  # all gradients were summed by the script itself


@fact("sharding", missing="no model is divided among ranks")
class Sharding(Fact):
    """A model whose parameters are divided among ranks."""

    name: str
    by: str  # "data": each rank has batches of its own (FSDP); "tensor": all work on the same ones
    members: Sequence[int]  # ranks


@part
class Owner:
    """A module that holds parameters whose gradients are missing."""

    path: str
    class_: str
    own: bool  # a class of the user's own
    site: Site


@fact("unreduced", missing="every gradient that the other ranks expected arrived")
class Unreduced(Fact):
    """Parameters whose gradients the other ranks never received."""

    parameters: Sequence[str]
    tensors: int  # how many
    frozen: int
    owners: Sequence[Owner]
    find_unused: bool


@fact("collective", missing="the script calls no collective operation")
class Collective(Fact):
    """A line that calls a collective operation."""

    op: str  # "all_reduce", "barrier" …
    shape: Sequence[int] | None = None  # of its tensor; a line is told again where that changes


@fact("waiting", missing="no rank waited long for another")
class Waiting(Fact):
    """Where a rank stands that has not moved for seconds, or whose collective operation failed; or that it went on."""

    over: bool
    op: str = ""  # the collective operation, or "backward"; empty outside of both
    number: int = 0  # of collective calls so far
    seconds: float = 0.0
    shape: Sequence[int] | None = None
    error: str | None = None
    stack: Sequence[str] = ()
