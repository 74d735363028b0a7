"""Answers that a module gives beside others: whoever calls it may use one and leave the rest.

A pooler beside the hidden states, an auxiliary head beside the classes. That nothing of such an answer reaches the
loss is a choice, while an answer that is lost inside a forward is a mistake.
"""

from __future__ import annotations

import torch

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.graph import kinds_behind
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.tensors import tensors_in
from paramedic.record.facts import Offered

MOST_ANSWERS = 16


@probe("side_outputs", states=[Offered])
class SideOutputs:
    """Tells which parts of a module make an answer of their own."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    @on(moments.module_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        answers = [tensor for _, tensor in tensors_in(output) if tensor.grad_fn is not None]
        if len(answers) < 2 or not call.grad or not call.module._modules:
            return
        for answer in answers[:MOST_ANSWERS]:
            part = self._part(call.path, answer)
            if part is not None:
                self.watcher.state(Offered(by=call.path), site=call.site, module=part, key=part)

    def _part(self, path: str, answer: torch.Tensor) -> str | None:
        """The child of the module that made this answer, perhaps with a function applied to it since."""
        makers = (self.watcher.known.calls.outputs.made_by(node) for node in kinds_behind(answer.grad_fn))
        made = next((maker for maker in makers if maker is not None), "").partition(" ")[0]
        below = made.removeprefix(f"{path}.")
        return f"{path}.{below.partition('.')[0]}" if made != below else None
