"""The inquest: when a loss or a gradient is not finite, run the step again and say which operation it came from."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

import torch

from paramedic.aliases import Fields
from paramedic.capture.apart.on_host import Copies, TooLarge, copies_of
from paramedic.capture.apart.process import Impossible, Refused, apart
from paramedic.capture.inquest.excerpt import Excerpt, excerpt
from paramedic.capture.inquest.origin import Origin, backward_origin, forward_origin
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.inquest.rerun import rerun, without_trace
from paramedic.capture.inquest.statement import measure, testimony
from paramedic.capture.inquest.tracer import MOST_SECONDS, Seen, Tracer, look
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import frame_site
from paramedic.record.facts import Gear
from paramedic.record.writer import NOWHERE, Site

MOST_FRAMES = 6  # tried, from the one that called backward() outwards
LONGEST = 60.0  # seconds that one attempt may take after a training has failed
_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_PYTHON = sysconfig.get_path("stdlib") + os.sep


@dataclass(slots=True)
class Conclusion:
    """The outcome of an inquest."""

    site: Site = NOWHERE
    module: str | None = None
    data: dict[str, object] = field(default_factory=dict)
    place: Site = NOWHERE  # the statement that was run again, up to its backward()
    inputs: dict[str, object] = field(default_factory=dict)  # the variables it was run with
    whole: bool | None = False  # statements without a gradient were run again as well; None: nothing was
    text: str = ""  # the statements themselves

    def plain(self) -> Fields:
        """All but the variables, as it can be sent from one process to another."""
        return {name: getattr(self, name) for name in ("site", "module", "data", "place", "whole", "text")}

    @classmethod
    def of(cls, plain: Fields) -> Conclusion:
        return cls(**{**plain, "site": Site(*plain["site"]), "place": Site(*plain["place"])})

    @property
    def certain(self) -> bool:
        return self.data.get("origin") in ("op", "parameter", "buffer")

    def better_than(self, other: Conclusion) -> bool:
        def worth(found: Conclusion) -> tuple[bool, bool, bool]:
            return found.certain, found.data["origin"] != "unknown", bool(found.data.get("same_loss"))

        return worth(self) > worth(other)


Attempt = Callable[[], tuple[Conclusion | None, bool]]


def hold(
    watcher: Watcher,
    losses: list[torch.Tensor],
    *,
    backward: bool,
    random_state: RandomState | None,
    until: str = "backward",
    stopping: bool = False,
) -> Conclusion:
    """Find out where a bad loss, or with `backward` a bad gradient, came from.

    Each attempt has a process of its own. Where there can be none, the statements are run again in this process if it
    is `stopping` anyway, else not at all. `until` says what the statements lead to (see Tracer).
    """
    best, at = Conclusion(data={"origin": "unknown", "reproduced": False}), None
    copies = None if stopping or backward else copies_for(watcher, losses)
    for frame in frames():
        for whole in (False, True):
            attempt = functools.partial(_try, watcher, frame, losses, until, backward, random_state, whole=whole)
            try:
                if copies is not None:  # what leads to the loss is found out while its tensors can be read
                    attempt = functools.partial(attempt, on_host=on_host(copies, losses, excerpt(frame, whole=whole)))
                patience = LONGEST if until == "backward" else MOST_SECONDS
                found, loops = _ask(attempt, backward, patience, stopping, copies)
            except Impossible as reason:
                watcher.state(Gear(reason=f"a failing step was not run again: {reason}"), key="inquest")
                best.data["not_run"] = str(reason)
                return best
            if found is not None and found.better_than(best):
                best, at = found, frame
            if best.certain and best.data.get("same_loss"):
                break
        if best.certain or loops:  # what lies outside of the training loop is not part of the step
            break
    if at is not None and until == "backward" and (statements := excerpt(at, whole=bool(best.whole))) is not None:
        best.inputs = statements.inputs
    return best


def copies_for(watcher: Watcher, losses: list[torch.Tensor]) -> Copies | None:
    """Where an accelerator is in use: all models and the losses on the host; None if that is too much."""
    with suppress(TooLarge):
        copies = copies_of([module for root in watcher.registry.roots() for module in anatomy.modules(root)])
        if copies is not None:
            copies.of(losses)
        return copies
    return None


def on_host(
    copies: Copies, losses: list[torch.Tensor], statements: Excerpt | None
) -> tuple[list[torch.Tensor], Excerpt | None]:
    """The losses, and the statements with copies instead of the variables they use."""
    try:
        if statements is not None:
            copies.of_used(statements.code.co_names, statements.variables)
        return copies.of(losses), statements
    except TooLarge:
        raise Impossible("the variables of the step are too large to be copied to the host") from None


def _ask(
    attempt: Attempt, backward: bool, seconds: float, stopping: bool, copies: Copies | None
) -> tuple[Conclusion | None, bool]:
    def plain() -> tuple[Fields | None, bool]:
        found, loops = attempt()
        return (found.plain() if found is not None else None), loops

    try:
        found, loops = apart(plain, seconds, differentiates=backward, copies=copies)
    except Impossible:
        if not stopping:
            raise
        return attempt()
    except Refused as reason:
        if copies is not None:
            raise Impossible(f"{reason}, on the host instead of the accelerator") from None
        return None, False
    return (Conclusion.of(found) if found is not None else None), loops


def frames() -> Iterator[FrameType]:
    """From the line that called backward() outwards, as far as the script goes."""
    frame: FrameType | None = sys._getframe(1)
    tried = 0
    while frame is not None and tried < MOST_FRAMES:
        filename = frame.f_code.co_filename
        pythons = filename.startswith(_PYTHON) and "site-packages" not in filename
        if tried and filename.startswith(_OURS):
            return
        if not (pythons or filename.startswith((_OURS, _TORCH, "<frozen"))):
            tried += 1
            yield frame
        frame = frame.f_back


def tracer_for(watcher: Watcher, until: str = "backward") -> Tracer:
    paths: dict[int, str] = {}
    path_of = watcher.registry.path
    return Tracer(lambda module: paths.get(id(module)) or paths.setdefault(id(module), path_of(module)), until)


def _try(
    watcher: Watcher,
    frame: FrameType,
    losses: list[torch.Tensor],
    until: str,
    backward: bool,
    random_state: RandomState | None,
    *,
    whole: bool,
    on_host: tuple[list[torch.Tensor], Excerpt | None] | None = None,
) -> tuple[Conclusion | None, bool]:
    """What the frame's own statements show; and whether the frame is the training loop."""
    losses, statements = on_host or (losses, excerpt(frame, whole=whole))
    if statements is None:
        return None, False
    loops, tracer = statements.in_loop and statements.count > 1, tracer_for(watcher, until)
    with without_trace(watcher.registry.roots(), random_state):
        again = rerun(statements, tracer)
        if isinstance(again, BaseException):
            return None, loops
        if backward:
            origin = differentiated(tracer, again)
        else:
            bad = next((seen for loss in again if (seen := look(loss)) is not None and seen.bad), None)
            origin = forward_origin(tracer, bad) if bad is not None else None
        if origin is None:
            return None, loops
        same = all(_same(a, b) for a, b in zip(again, losses, strict=False))
        found = _conclude(watcher, origin, tracer, frame, statements, same)
        found.place, found.whole, found.text = frame_site(frame), whole, statements.text
        return found, loops


def differentiated(tracer: Tracer, losses: list[torch.Tensor]) -> Origin | None:
    def differentiate(leaves: list[torch.Tensor]) -> list[torch.Tensor | None]:
        ones = [torch.ones_like(loss) for loss in losses]
        with torch._C._EnableTorchFunction():
            return list(torch.autograd.grad(losses, leaves, ones, allow_unused=True))

    try:
        return backward_origin(tracer, losses, differentiate)
    except RuntimeError:  # part of the graph was not rebuilt, and the old one is gone
        return None


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    return bool(torch.equal(torch.nan_to_num(a.detach()), torch.nan_to_num(b.detach())))


def _conclude(
    watcher: Watcher,
    origin: Origin,
    tracer: Tracer,
    frame: FrameType,
    statements: Excerpt,
    same: bool,
) -> Conclusion:
    data: dict[str, object] = {"reproduced": True, "same_loss": same, "origin": "op", **testimony(origin, tracer)}
    op = origin.custom or origin.op
    if op is None and origin.outside is None:
        return Conclusion(site=frame_site(frame), data={"origin": "unknown", "reproduced": True})
    if origin.outside is not None:
        data["origin"], data["name"] = _identify(watcher, origin.outside, statements.variables)
        data["outside"] = measure(origin.outside)
    site = op.site if op is not None else frame_site(frame)
    if site.function == "<module>":
        site = site._replace(function=statements.function)
    return Conclusion(site=site, module=op.module if op is not None else None, data=data)


def _identify(watcher: Watcher, seen: Seen, variables: dict[str, object]) -> tuple[str, str]:
    """What a tensor is that was bad before the step began: a parameter, a buffer, or a variable of the script."""
    for root in watcher.registry.roots():
        for kind, tensors in (("parameter", root.named_parameters()), ("buffer", root.named_buffers())):
            for name, tensor in tensors:
                if _memory(tensor) == seen.memory:
                    return kind, f"{watcher.registry.root_name(root)}.{name}"
    for name, value in list(variables.items()):
        if isinstance(value, torch.Tensor) and _memory(value) == seen.memory and not name.startswith("__"):
            return "variable", name
    return "variable", ""


def _memory(tensor: torch.Tensor) -> int | None:
    try:
        return tensor.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):  # sparse and other tensors without a storage of their own
        return None
