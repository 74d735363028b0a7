"""When to ask, and whom: a few times per run, when it is cheap, each model that is being trained."""

from __future__ import annotations

import inspect
import time
import weakref
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Kwargs
from paramedic.capture import moments
from paramedic.capture.active.company import mixed_at, padding, row
from paramedic.capture.active.future import future
from paramedic.capture.active.questions import TOLERANCE, Batch, Subject, cloned, ignored, mixing, present, same
from paramedic.capture.active.series import later_numbers
from paramedic.capture.apart.on_host import Copies, TooLarge, copies_of
from paramedic.capture.apart.process import Refused, apart
from paramedic.capture.arguments import argument_name
from paramedic.capture.bus import on
from paramedic.capture.code.overwritten import overwritten
from paramedic.capture.facts import own_parameters, readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import Asked
from paramedic.record.facts.storing import restored

FIRST, SECOND = 6, 40  # the steps from which on the first and the second round may take place
ROUNDS = 2
MOST_MODELS = 3
MOST_VALUES = 2_000_000  # in a batch
MOST_PARAMETERS = 20_000_000
FORWARDS = 25  # that a round takes, roughly
GRACE = 0.6  # seconds that it may cost at the beginning, whatever the budget
SLOWER = 20  # times, that a host is slower than its accelerator
PATIENCE = 5.0  # seconds without an answer, beside what a round should take on one core


@probe("active", states=[Asked])
class Active:
    """Keeps a copy of a batch for the length of one step, and asks after the step."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._rounds: Counter[int] = Counter()
        self._given_up: set[int] = set()
        self._captured: tuple[weakref.ref[nn.Module], str, Call, Batch] | None = None
        self._last = 0.0
        self._step_time = float("inf")  # seconds; of the fastest step so far

    def install(self) -> None:
        if not self.watcher.settings.probes:
            reason = "no copy of the model was probed: --no-probes was given"
            self.watcher.state(Asked(reason=reason), phase="setup")

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        """A model was called while examining: is this a batch to ask about?"""
        model, step = call.module, self.watcher.step
        if self._captured is not None or not (call.grad and call.training) or not self.watcher.settings.probes:
            return
        rounds = self._rounds[id(model)]
        if step < (FIRST if rounds == 0 else SECOND) or rounds >= ROUNDS or id(model) in self._given_up:
            return
        if len(self._rounds) > MOST_MODELS or not self._affordable() or self.watcher.gears.compiled:
            return
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return  # a forward pass of one process alone might wait for the others
        tensors = [tensor for _, tensor in tensors_in((args, kwargs))]
        if not tensors or sum(t.numel() for t in tensors) > MOST_VALUES or not all(readable(t) for t in tensors):
            return
        batch = cloned((tuple(args), dict(kwargs)))
        if batch is not None:
            self._captured = (weakref.ref(model), call.path, call, batch)

    def _affordable(self) -> bool:
        """A round costs some forward passes; a forward pass is about a third of a step."""
        elapsed = time.perf_counter() - self.watcher.started
        return FORWARDS * self._step_time / 3 < GRACE + self.watcher.settings.budget * elapsed

    @on(moments.step_taken)
    def _stepped(self) -> None:
        now, before = time.perf_counter(), self._last
        self._last = now
        self._step_time = min(self._step_time, now - before)
        captured, self._captured = self._captured, None
        if captured is not None:
            self._ask_about(*captured)
            self._last = time.perf_counter()

    def _ask_about(self, reference: weakref.ref[nn.Module], path: str, call: Call, batch: Batch) -> None:
        model = reference()
        if model is None:
            return
        self._rounds[id(model)] += 1
        try:
            if _size(model) > MOST_PARAMETERS:
                raise Refused("the model is too large to be probed")
            copies, batch = _copies(model, batch)
            patience = PATIENCE + 2 * FORWARDS * self._step_time * (1 if copies is None else SLOWER)
            data = apart(lambda: self._ask(model, batch), patience, copies=copies)
            data["lost"] = _lost(model, data)
        except Refused as reason:
            data = {"reason": str(reason)}
        if "reason" in data:
            self._given_up.add(id(model))
        asked = restored(Asked, {**data, "round": self._rounds[id(model)]})
        self.watcher.state(asked, site=call.site, module=path, phase="train")

    def _ask(self, model: nn.Module, batch: Batch) -> dict[str, object]:
        """All questions about one model. Runs in a process of its own: whatever the model does is lost."""
        data: Fields = {"names": _argument_names(model), "mask_left_out": _mask_left_out(model, batch)}
        subject = Subject(model, batch)
        questions = {"mixing": mixing, "present": present, "row": row, "padding": padding, "future": future}
        questions["later_numbers"] = later_numbers
        with torch.no_grad():
            before = subject.run(batch)
            answers = {}
            if before and same(before, subject.run(batch)):
                answers = {name: _answer(question, subject) for name, question in questions.items()}
                if (mixed := answers["mixing"]) and mixed["gap"] > TOLERANCE:
                    mixed["site"] = _answer(mixed_at, subject)
            if not answers or not same(before, subject.run(batch)):
                return {**data, "reason": "it gives different outputs for the same input in eval mode"}
            answers["ignored"] = _answer(ignored, subject)  # the last one: it trains, which may change the answers
        later = answers.pop("future") or {"gap": None, "site": None, "mask": None}
        numbers = answers.pop("later_numbers") or {"gap": None, "site": None}
        data |= {"later_numbers": numbers["gap"], "later_numbers_at": numbers["site"]}
        data |= {**answers, "future": later["gap"], "future_at": later["site"], "future_mask": later["mask"]}
        data["size"] = subject.size
        return data | self._about_module(model, answers["mixing"])

    def _about_module(self, model: nn.Module, found: Fields | None) -> Fields:
        """The module after which samples are mixed: what it is, and where the user built it or what contains it."""
        if not found or not found["module"]:
            return {}
        parts = found["module"].split(".")
        chain = [model.get_submodule(".".join(parts[:n])) for n in range(len(parts), 0, -1)]
        wrong = next((m for m in chain if getattr(m, "batch_first", None) is False), None)
        sites = [site for m in chain if (site := self.watcher.registry.birth_site(m)).file]
        return {
            "mixed_by": type(wrong if wrong is not None else chain[0]).__name__,
            "batch_first": None if wrong is None else False,
            "built_at": list(sites[0]) if sites else None,
        }


def _lost(model: nn.Module, data: Fields) -> dict[str, list[object]]:
    """Inputs without influence: the line of forward() that overwrites what another line has made of them, and that."""
    code = getattr(type(model).forward, "__code__", None)
    idle = [path for path, without in (data.get("ignored") or {}).items() if without]
    found = {path: overwritten(code, name) for path in idle if code and (name := argument_name(model, path))}
    return {path: [*lost[0], lost[1]] for path, lost in found.items() if lost is not None}


def _copies(model: nn.Module, batch: Batch) -> tuple[Copies | None, Batch]:
    """Where an accelerator is in use: the model's tensors and the batch's on the host."""
    try:
        copies = copies_of(_inner(model))
        return copies, (copies.of(batch[0]), copies.of(batch[1])) if copies is not None else batch
    except TooLarge:
        raise Refused("the model is too large to be probed on the host") from None


def _inner(model: nn.Module) -> list[nn.Module]:
    """It and all modules in it, without calling anything that the user may have redefined."""
    found, waiting = {id(model): model}, [model]
    while waiting:
        inner = [m for m in waiting.pop()._modules.values() if m is not None and id(m) not in found]
        found |= {id(module): module for module in inner}
        waiting += inner
    return list(found.values())


def _size(model: nn.Module) -> int:
    return sum(p.numel() for module in _inner(model) for p in own_parameters(module).values())


def _answer(question: Callable[[Subject], object], subject: Subject) -> Any:
    """None where the model cannot take the changed batch: the other questions may still be asked."""
    try:
        return question(subject)
    except Exception:
        return None


def _mask_left_out(model: nn.Module, batch: Batch) -> str | None:
    """The argument that would have told the model what is padding, if it has one and did not get it."""
    args, kwargs = batch
    left = [name for name in _argument_names(model)[len(args) :] if kwargs.get(name) is None]
    return next((name for name in left if name == "attention_mask" or ("pad" in name and "mask" in name)), None)


def _argument_names(model: nn.Module) -> list[str]:
    try:
        return [name for name in inspect.signature(model.forward).parameters if name != "self"]
    except (TypeError, ValueError):
        return []
