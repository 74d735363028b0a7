"""A few samples of a batch as people see them: pictures, rows and tokens, with their labels and the model's answers."""

from __future__ import annotations

import base64
import math

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Kwargs
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
        self._taken: tuple[Call, int, Fields] | None = None  # the call, its batch size, its samples
        self._told = {True: 0, False: 0}  # by whether there are gradients
        self._due = {True: 0, False: 0}  # the step from which on the next batch is looked at
        self._ids: list[list[int]] = []  # of the batch taken, if it has tokens
        self._rows: set[int] = set()  # of the embeddings of the model that was called

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        self._taken = None
        if self._told[call.grad] >= LOOKS or call.step < self._due[call.grad]:
            return
        given = next((t for _, t in tensors_in((args, kwargs)) if readable(t) and t.dim() > 1 and len(t)), None)
        shown = _seen(given.detach()) if given is not None else None
        if given is not None and shown is not None:
            if shown["kind"] == "tokens":
                self._ids, self._rows = given[:SAMPLES, :TOKENS].tolist(), _embedding_rows(call.module)
            about = Call(None, None, call.path, call.site, call.training, call.grad, call.step)
            self._taken = about, len(given), shown

    @on(moments.loss_called)
    def compared(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        if self._taken is None or not readable(prediction) or not readable(target) or not target.dim():
            return
        call, size, shown = self._taken
        per_token = _per_token(prediction, target, size) if shown["kind"] == "tokens" else None
        if per_token is None and (len(target) != size or len(prediction) != size):
            return
        self._taken = None
        self._told[call.grad] += 1
        self._due[call.grad] = LATER * (call.step + 1)
        if shown["kind"] == "tokens":
            shown |= _text(self._ids, per_token, self._rows)
        if per_token is None:
            shown |= {"labels": _labels(target), "answers": _answers(prediction, target)}
        data = Shown(**shown, batch=size)
        phase = "train" if call.grad else "eval"
        self.watcher.state(data, site=call.site, module=call.path, phase=phase)


def _seen(given: torch.Tensor) -> dict[str, object] | None:
    """Kind, shape and samples of an input; None for what has no simple look."""
    few, shape = given[:SAMPLES], list(given.shape)
    if given.dim() == 2 and not given.dtype.is_floating_point and given.dtype != torch.bool:
        return {"kind": "tokens", "shape": shape, "samples": few[:, :COLUMNS].tolist()}
    if given.dim() == 2 and given.dtype.is_floating_point:
        return {"kind": "rows", "shape": shape, "samples": few[:, :COLUMNS].double().tolist()}
    if given.dim() == 4 and min(given.shape[1], given.shape[3]) in COLOURS:
        return _pictures(few, shape)
    return None


def _embedding_rows(model: nn.Module) -> set[int]:
    tables = (nn.Embedding, nn.EmbeddingBag)
    return {stored(m, "num_embeddings", 0) for _, m in anatomy.named_modules(model) if isinstance(m, tables)}


def _per_token(
    prediction: torch.Tensor, target: torch.Tensor, size: int
) -> tuple[list[list[int]], list[list[int]]] | None:
    """Labels and answers, a row per sample, where the loss compares a class per token: (B·T, C) with (B·T,), or
    (B, C, T) with (B, T)."""
    if target.dtype.is_floating_point or prediction.dim() != target.dim() + 1 or not prediction.numel():
        return None
    if target.dim() == 1 and len(target) > size and len(target) % size == 0 and len(prediction) == len(target):
        scores = prediction.detach().reshape(size, -1, prediction.shape[1])[:SAMPLES, :TOKENS]
        labels, answers = target.reshape(size, -1), scores.argmax(2)
    elif target.dim() == 2 and len(target) == size and prediction.shape[2:] == target.shape[1:]:
        labels, answers = target, prediction[:SAMPLES].detach().argmax(1)
    else:
        return None
    return labels[:SAMPLES, :TOKENS].tolist(), answers[:SAMPLES, :TOKENS].tolist()


def _text(ids: list[list[int]], per_token: tuple[list[list[int]], list[list[int]]] | None, rows: set[int]) -> Fields:
    """What the ids stand for, if the program has a vocabulary for them. Ignored labels (-100) are shown as a dot."""
    labels, answers = per_token or ([], [])
    hidden = [[max(0, number) for number in row] for row in labels]
    found = tokens_of([*ids, *hidden, *answers], rows) or tokens_of(ids, rows)
    shown: Fields = {} if found is None else {"vocabulary": found[0], "tokens": found[1][: len(ids)]}
    if not labels:
        return shown
    if found is not None and len(found[1]) > len(ids):
        words = found[1][len(ids) : len(ids) + len(labels)], found[1][len(ids) + len(labels) :]
    else:
        words = _strings(labels), _strings(answers)
    dotted = [
        [word if number >= 0 else "·" for word, number in zip(line, row, strict=True)]
        for line, row in zip(words[0], labels, strict=True)
    ]
    return shown | {"label_tokens": dotted, "answer_tokens": words[1]}


def _strings(numbers: list[list[int]]) -> list[list[str]]:
    return [[str(number) for number in row] for row in numbers]


def _pictures(few: torch.Tensor, shape: list[int]) -> dict[str, object] | None:
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
