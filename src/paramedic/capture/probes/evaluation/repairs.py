"""Evaluations asked again: would another preparation of the inputs have given better answers?"""

from __future__ import annotations

import weakref

import torch
from torch import nn
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.active.questions import Batch, Subject, cloned
from paramedic.capture.active.repairs import first_input, repairs
from paramedic.capture.apart.on_host import TooLarge, copies_of
from paramedic.capture.apart.process import Refused, apart
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import EvaluationAsked
from paramedic.record.facts.storing import restored

FIRST = 20  # steps before which no process is started for it: an evaluation says nothing yet
ROUNDS = 2
MOST_VALUES = 1_000_000  # in a batch
MOST_TRAINED = 200_000  # values of a batch of training that is kept
FEWEST = 32  # samples that a process is started for
PATIENCE = 10.0  # seconds without an answer
T = torch.Tensor


@probe("repairs", states=[EvaluationAsked])
class Repairs:
    """Keeps a copy of the inputs of an evaluation until they meet their labels, and one of training."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._trained: weakref.WeakKeyDictionary[nn.Module, torch.Tensor] = weakref.WeakKeyDictionary()
        self._given: tuple[weakref.ref[nn.Module], Call, Batch] | None = None
        self._rounds, self._asked_at = 0, -1

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A model was called while examining: in training, or in an evaluation."""
        self._given = None
        if self._rounds >= ROUNDS or not self.watcher.settings.probes or self.watcher.gears.compiled:
            return
        batch = (tuple(args), dict(kwargs))
        tensors = [tensor for _, tensor in tensors_in(batch)]
        plain = tensors and all(readable(t) and (t.is_cpu or self.watcher.gears.examining) for t in tensors)
        if not plain or sum(t.numel() for t in tensors) > MOST_VALUES:
            return
        if call.grad and call.training:
            self._keep_trained(call.module, batch)
        elif not call.grad and self.watcher.step >= max(FIRST, self._asked_at + 1) and call.module in self._trained:
            copy = cloned(batch)
            self._given = (weakref.ref(call.module), call, copy) if copy is not None else None

    def _keep_trained(self, model: nn.Module, batch: Batch) -> None:
        values = first_input(batch) if model not in self._trained or self.watcher.step == FIRST else None
        if values is not None and len(values) >= FEWEST // 2 and values.numel() <= MOST_TRAINED:
            self._trained[model] = values.detach().clone()

    @on(moments.step_taken)
    def _stepped(self) -> None:
        self._given = None

    @on_call_of(torch.eq, T.eq, T.__eq__)
    def compared(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Answers beside labels: which of the two is which shows when the model is asked again."""
        if self._given is not None and len(args) == 2:
            self._met([value for value in args if isinstance(value, T)])

    @on_call_of(F.cross_entropy, F.nll_loss)
    def scored(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        target = args[1] if len(args) > 1 else (kwargs or {}).get("target")
        if self._given is not None and isinstance(target, T):
            self._met([target])

    def _met(self, candidates: list[torch.Tensor]) -> None:
        labels = [t for t in candidates if t.dim() == 1 and t.dtype == torch.int64 and len(t) >= FEWEST]
        if torch.is_grad_enabled() or self._given is None or len(labels) != len(candidates):
            return
        (reference, call, batch), self._given = self._given, None
        model = reference()
        if model is None or not labels:
            return
        self._rounds, self._asked_at = self._rounds + 1, self.watcher.step
        trained, training = self._trained[model], call.training
        try:
            copies = copies_of(list(anatomy.modules(model)))
            if copies is not None:
                batch, labels, trained = (
                    (copies.of(batch[0]), copies.of(batch[1])),
                    copies.of(labels),
                    copies.of(trained),
                )
            data = apart(lambda: _asked(model, batch, labels, trained, training), PATIENCE, copies=copies)
        except (Refused, TooLarge):
            return
        if data is not None:
            self.watcher.state(restored(EvaluationAsked, data), site=call.site, module=call.path, phase="eval")


def _asked(
    model: nn.Module, batch: Batch, candidates: list[torch.Tensor], trained: torch.Tensor, training: bool
) -> dict[str, object] | None:
    """Runs in a process of its own. Of two candidates for the labels, one is what the model answers."""
    subject = Subject(model, batch)
    with torch.no_grad():
        if len(candidates) > 1:
            answers = [a.argmax(1) for a in subject.run(batch, training=training) if a.dim() == 2]
            candidates = [t for t in candidates if not any(torch.equal(t, answer) for answer in answers)]
        return repairs(subject, candidates[0], trained, training=training) if len(candidates) == 1 else None
