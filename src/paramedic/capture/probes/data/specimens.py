"""A few samples of a batch as people see them: pictures, rows and tokens, with their labels and the model's answers."""

from __future__ import annotations

import base64
import math
from typing import Any

import torch
from torch import nn

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.vocabulary import tokens_of
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import stored
from paramedic.record.facts import Specimens as Shown

SAMPLES = 8  # of a batch
LOOKS = 8  # batches, of training and of evaluation
LATER = 3  # times as many steps until the next one
SIDE = 56  # pixels that a picture has at most
COLUMNS = 12  # numbers of a row, or tokens
TOKENS = 64  # where they can be shown as text
COLOURS = (1, 3, 4)


@probe("specimens", states=[Shown])
class Specimens:
    """Takes its samples where the model is called, and tells them once its loss has seen answers and labels."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._taken: tuple[Call, int, dict[str, Any]] | None = None  # the call, its batch size, its samples
        self._told = {True: 0, False: 0}  # by whether there are gradients
        self._due = {True: 0, False: 0}  # the step from which on the next batch is looked at

    @on(moments.model_called)
    def called(self, call: Call, args: Any, kwargs: Any, output: Any) -> None:
        self._taken = None
        if self._told[call.grad] >= LOOKS or call.step < self._due[call.grad]:
            return
        given = next((t for _, t in tensors_in((args, kwargs)) if readable(t) and t.dim() > 1 and len(t)), None)
        shown = _seen(given.detach()) if given is not None else None
        if given is not None and shown is not None:
            if shown["kind"] == "tokens":
                shown |= _text(given[:SAMPLES, :TOKENS].tolist(), call.module)
            about = Call(None, None, call.path, call.site, call.training, call.grad, call.step)
            self._taken = about, len(given), shown

    @on(moments.loss_called)
    def compared(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        if self._taken is None or not readable(prediction) or not readable(target) or not target.dim():
            return
        call, size, shown = self._taken
        if len(target) != size or len(prediction) != size:
            return
        self._taken = None
        self._told[call.grad] += 1
        self._due[call.grad] = LATER * (call.step + 1)
        data = Shown(**shown, batch=size, labels=_labels(target), answers=_answers(prediction, target))
        phase = "train" if call.grad else "eval"
        self.watcher.state(data, site=call.site, module=call.path, phase=phase)


def _seen(given: torch.Tensor) -> dict[str, Any] | None:
    """Kind, shape and samples of an input; None for what has no simple look."""
    few, shape = given[:SAMPLES], list(given.shape)
    if given.dim() == 2 and not given.dtype.is_floating_point and given.dtype != torch.bool:
        return {"kind": "tokens", "shape": shape, "samples": few[:, :COLUMNS].tolist()}
    if given.dim() == 2 and given.dtype.is_floating_point:
        return {"kind": "rows", "shape": shape, "samples": few[:, :COLUMNS].double().tolist()}
    if given.dim() == 4 and min(given.shape[1], given.shape[3]) in COLOURS:
        return _pictures(few, shape)
    return None


def _text(ids: list[list[int]], model: Any) -> dict[str, Any]:
    """What the ids stand for, if the program has a vocabulary for them."""
    tables = (nn.Embedding, nn.EmbeddingBag)
    sizes = {stored(m, "num_embeddings", 0) for _, m in anatomy.named_modules(model) if isinstance(m, tables)}
    found = tokens_of(ids, sizes)
    return {"vocabulary": found[0], "tokens": found[1]} if found is not None else {}


def _pictures(few: torch.Tensor, shape: list[int]) -> dict[str, Any] | None:
    """Every so many pixels of each, between the darkest and the brightest of them all."""
    channels_first = few.shape[1] in COLOURS
    few = few if channels_first else few.permute(0, 3, 1, 2)
    if min(few.shape[2:]) < 4:
        return None
    stride = math.ceil(max(few.shape[2:]) / SIDE)
    colours = 3 if few.shape[1] >= 3 else 1
    small = few[:, :colours, ::stride, ::stride].float().cpu().nan_to_num(0.0, 0.0, 0.0)
    low, high = float(small.min()), float(small.max())
    grey = ((small - low) * (255 / max(high - low, 1e-12))).round().to(torch.uint8)
    pixels = grey.permute(0, 2, 3, 1).contiguous()
    return {
        "kind": "pictures",
        "shape": shape,
        "samples": [base64.b64encode(one.numpy().tobytes()).decode() for one in pixels],
        "size": [pixels.shape[1], pixels.shape[2], colours],
        "range": [low, high],
    }


def _labels(target: torch.Tensor) -> list[float]:
    """One number per sample; empty where there are more."""
    flat = target.detach()[:SAMPLES].flatten(1) if target.dim() > 1 else target.detach()[:SAMPLES].unsqueeze(1)
    return [float(value) for value in flat[:, 0].tolist()] if flat.shape[1] == 1 else []


def _answers(prediction: torch.Tensor, target: torch.Tensor) -> list[float]:
    """The class with the highest score where labels are classes, else the number that stands for the sample."""
    few = prediction.detach()[:SAMPLES]
    if not target.dtype.is_floating_point and target.dim() == 1 and few.dim() == 2:
        return [float(value) for value in few.argmax(1).tolist()]
    return _labels(prediction)
