"""Rows that a model is evaluated on without a loader: they trained on before?"""

from __future__ import annotations

import hashlib
import weakref
from collections import deque
from typing import NamedTuple

import torch
from torch import nn

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record import facts
from paramedic.record.writer import Site

MOST_ROWS = 20_000
MOST_BYTES = 4_000_000  # of a batch
MOST_READ = 64_000_000  # bytes of training batches in all, and of evaluations
LEAST_BROKEN = 4  # numbers with a fraction in a row, by which it is told from all others
LATEST = 2  # calls that tell whether training still brings new rows


class _Evaluated(NamedTuple):
    """What is told of a call, of which nothing is kept."""

    root: nn.Module
    training: bool
    site: Site
    path: str
    step: int


@probe("fed_rows", states=[facts.FedRows])
class FedRows:
    """Remembers the rows of one model's training calls, and finds them again in its evaluation.

    Rows that were evaluated before they were trained on do not count: games, pools of unlabelled data, and tests that
    come before the training of the same data.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._optimizer = -1
        self._model: weakref.ref[object] | None = None
        self._trained: set[bytes] = set()
        self._loaders: set[int | None] = set()  # that training used; others are compared as a whole
        self._read = self._tested = 0  # bytes of training batches, and of those of evaluations
        self._twice = 0  # rows that a training batch held more than once
        self._tested_first: set[bytes] = set()
        self._known: deque[float] = deque(maxlen=LATEST)  # shares of the latest training rows that had come before

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if call.borrowed or (call.grad and not call.training):
            return
        rows = next((tensor for _, tensor in tensors_in((args, kwargs))), None)
        if rows is None or rows.dim() < 2 or not rows.dtype.is_floating_point:
            return
        if rows.requires_grad or rows.nbytes > MOST_BYTES or not readable(rows):
            return
        if call.grad:
            self._loaders.add(call.loader)
            root, newest = call.root, max((a.number for a in self.watcher.known.loop.accounts.values()), default=-1)
            wanted = rows[:0] if self._is_full() else rows
            self.watcher.bring("fed_rows", [wanted], lambda near: self._train(root, newest, near[0]))
        elif call.loader in self._loaders and self._tested <= MOST_READ:
            self._tested += rows.nbytes
            told = _Evaluated(call.root, call.training, call.site, call.path, call.step)
            self.watcher.bring("fed_rows", [rows], lambda near: self._evaluate(told, near[0]))

    def _is_full(self) -> bool:
        return len(self._trained) >= MOST_ROWS or self._read > MOST_READ

    def _train(self, model: nn.Module, newest: int, rows: torch.Tensor) -> None:
        if self._model is None or self._model() is not model or (newest > self._optimizer >= 0):
            self._model = weakref.ref(model)
            self._trained, self._tested_first, self._twice = (
                set(),
                set(),
                0,
            )  # a new fold, or another try, begins from scratch
            self._known.clear()
        self._optimizer = newest
        if self._is_full():
            return
        self._read += rows.nbytes
        digests = _digests(rows)
        if found := set(digests):
            self._twice += len(digests) - len(found)
            self._known.append(len(found & self._trained) / len(found))
            self._trained |= found

    def _evaluate(self, call: _Evaluated, rows: torch.Tensor) -> None:
        if self._model is None or self._model() is not call.root:
            return
        found = set(_digests(rows))
        self._tested_first |= found - self._trained if len(self._tested_first) < MOST_ROWS else set()
        shared = (found & self._trained) - self._tested_first
        # In train mode a model without gradients acts, or collects data: what it meets is trained on afterwards.
        if shared and not call.training and len(self._known) == LATEST:
            data = facts.FedRows(
                rows=len(found),
                shared=len(shared),
                trained=len(self._trained),
                known=min(self._known),
                twice=self._twice,
            )
            self.watcher.state(data, site=call.site, module=call.path, step=call.step, phase="eval")


def _digests(rows: torch.Tensor) -> list[bytes]:
    flat = rows.detach().reshape(rows.shape[0], -1).contiguous()
    telling = ((flat != flat.round()).sum(1) >= LEAST_BROKEN).tolist()
    raw = flat.view(torch.uint8).numpy()
    return [
        hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row, tells in zip(raw, telling, strict=True) if tells
    ]
