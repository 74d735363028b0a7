"""Two branches that a loss sets against each other: are they the same, number by number?"""

from __future__ import annotations

import weakref
from collections import Counter
from types import FrameType
from typing import NamedTuple

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.code.storing import assigned_at
from paramedic.capture.facts import address, content_hash, readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import locals_of, user_frame, user_site
from paramedic.record.facts import TwinBranches, TwinInputs
from paramedic.record.writer import Site

T = torch.Tensor
_DIFFERENCES = [T.sub, T.__sub__, torch.sub, torch.subtract, T.subtract]
LOOKS = 16  # per place
FEWEST, MOST = 8, 1_000_000  # values


class Given(NamedTuple):
    """A batch that a model was given in this step."""

    tensor: weakref.ref[torch.Tensor]
    name: str
    digest: str
    site: Site


@probe("twins", states=[TwinBranches, TwinInputs])
class Twins:
    """Looks at differences of two branches with a graph, and at batches of one step that have different names."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[object] = Counter()
        self._given: list[Given] = []

    @on(moments.step_taken, moments.round_over)
    def _forget(self) -> None:
        self._given.clear()

    @on_call_of(*_DIFFERENCES)
    def _subtracted(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if (
            len(args) < 2
            or not (isinstance(args[0], T) and isinstance(args[1], T))
            or self.watcher.known.calls.in_forward()
        ):
            return
        a, b = args[0], args[1]
        if not (a.requires_grad and b.requires_grad) or a.shape != b.shape or not FEWEST <= a.numel() <= MOST:
            return
        site, step = user_site(), self.watcher.step
        self._looks[site] += 1
        if self._looks[site] > LOOKS or not (readable(a) and readable(b)) or not site.file:
            return
        made = _made_at(user_frame(), b) or _made_at(user_frame(), a)

        def use(found: list[float]) -> None:
            fact = TwinBranches(same=not found[0], made_at=made)
            self.watcher.state(fact, site=site, step=step, phase="train", key=("twin branches", site, fact.same))

        self.watcher.read((a.detach() != b.detach()).any().reshape(1).float(), use)

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A model was given a batch: did one get the same numbers in this step, under another name?"""
        frame = user_frame()
        batch = next((t for _, t in tensors_in((args, kwargs)) if t.dtype.is_floating_point), None)
        if frame is None or batch is None or batch.requires_grad or batch.dim() < 2 or batch.shape[0] < 2:
            return
        name = next((name for name, value in locals_of(frame).items() if value is batch), None)
        if name is None or batch.device.type != "cpu" or not FEWEST <= batch.numel() <= MOST or not readable(batch):
            return
        self._looks[call.site] += 1
        if self._looks[call.site] > 2 * LOOKS:
            return
        given = Given(weakref.ref(batch), name, content_hash(batch), call.site)
        for other in self._given:
            first = other.tensor()
            if first is None or other.name == name or first.shape != batch.shape or address(first) == address(batch):
                continue
            same = other.digest == given.digest
            fact = TwinInputs(first=other.name, second=name, same=same, digest=given.digest)
            key = ("twin inputs", other.name, name, given.digest if same else "")
            self.watcher.state(fact, site=call.site, key=key, phase="train")
        self._given.append(given)


def _made_at(frame: FrameType | None, value: torch.Tensor) -> Site | None:
    """The line of the function now running that last assigned this variable."""
    name = next((n for n, known in locals_of(frame).items() if known is value), None) if frame is not None else None
    if frame is None or name is None:
        return None
    line = assigned_at(frame.f_code.co_filename, frame.f_code.co_name, name, frame.f_lineno)
    return user_site()._replace(line=line) if line is not None else None
