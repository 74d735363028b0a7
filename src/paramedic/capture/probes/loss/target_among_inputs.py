"""Targets that the model is given: is what it should predict the last thing among its inputs?"""

from __future__ import annotations

import weakref
from collections import Counter

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.program.where import user_site
from paramedic.record.facts import GivenTarget
from paramedic.record.writer import Site

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
LOOKS = 16  # per place
FEWEST = 8  # samples: in fewer, numbers agree by chance, and are not compared


@probe("target_among_inputs", states=[GivenTarget])
class TargetAmongInputs:
    """Compares the target of a distance, one number per sample, with the last column or step of the model's input."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._input: weakref.ref[torch.Tensor] | None = None
        self._looks: Counter[Site] = Counter()

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if call.grad and call.training:
            tensors = [t for _, t in tensors_in((args, kwargs)) if t.dtype.is_floating_point and t.dim() in (2, 3)]
            self._input = weakref.ref(tensors[0]) if len(tensors) == 1 else None

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        x = self._input() if self._input is not None else None
        if x is None or name not in _DISTANCES or not prediction.requires_grad or target.requires_grad:
            return
        count = x.shape[0]
        if target.numel() != count or count < FEWEST or x.shape[1] < 2 or not (readable(x) and readable(target)):
            return
        site = user_site()
        self._looks[site] += 1
        if self._looks[site] > LOOKS or x.device != target.device:
            return
        wanted, last = target.reshape(count, 1), x[:, -1].reshape(count, -1)  # or all that the last step has
        same = (last == wanted).all(0).any()
        # Few different numbers are classes; those may be told by many columns.
        various = target.reshape(-1).sort().values.diff().ne(0).float().mean()
        step, sequence, columns = self.watcher.step, x.dim() == 3, x.shape[1]

        def use(found: list[float]) -> None:
            fact = GivenTarget(sequence=sequence, columns=columns, given=bool(found[0]), various=found[1])
            self.watcher.state(fact, site=site, step=step, key=(site, fact.given))

        self.watcher.read(torch.stack([same.float(), various]), use)
