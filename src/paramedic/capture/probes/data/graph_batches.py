"""Several graphs in one call of the model: do the edges reach all of them?"""

from __future__ import annotations

from collections.abc import Iterator

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
from paramedic.record.facts import GraphBatch

LOOKS = 8
MOST_VALUES = 4_000_000  # of the edges in one look
_INDICES = (torch.int64, torch.int32)


@probe("graph_batches", states=[GraphBatch])
class GraphBatches:
    """Looks at a model's inputs: features of nodes, edges between them, and a tensor that divides them into graphs."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks = 0

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if self._looks >= LOOKS or not (call.grad and call.training):
            return
        tensors = [t for _, t in tensors_in((args, kwargs)) if readable(t)]
        edges = [t for t in tensors if t.dtype in _INDICES and t.dim() == 2 and 2 in t.shape]
        nodes = next((t.shape[0] for t in tensors if t.dtype.is_floating_point and t.dim() == 2), 0)
        if len(edges) != 1 or nodes < 2 or not 0 < edges[0].numel() <= MOST_VALUES:
            return
        found = [_reached(edges[0], owner, fits) for owner, fits in _divisions(tensors, nodes)]
        if not found:
            return
        self._looks += 1
        site, step = user_site(), self.watcher.step
        answers = [t.shape[0] for _, t in tensors_in(output) if t.dim() > 0]

        def use(numbers: list[float]) -> None:
            for fits, graphs, reached, last in zip(*[iter(numbers)] * 4, strict=True):
                if fits:
                    fact = GraphBatch(
                        nodes=nodes, graphs=int(graphs), reached=int(reached), last=int(last), answers=answers[:4]
                    )
                    self.watcher.state(fact, site=site, phase="train", step=step)
                    return

        self.watcher.read(torch.cat(found), use)


def _divisions(tensors: list[torch.Tensor], nodes: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """The graph of each node, and whether it is one: told node by node, as sizes, or as places where graphs begin."""
    places = torch.arange(nodes)
    for tensor in tensors:
        if tensor.dtype not in _INDICES or tensor.dim() != 1 or len(tensor) < 2:
            continue
        rises, numbers = (tensor[1:] >= tensor[:-1]).all(), tensor.long()
        if len(tensor) == nodes:
            yield numbers, rises & (tensor[0] == 0) & (tensor[-1] < nodes)
            continue
        ends = numbers.cumsum(0)
        yield _in_order(ends, places), (tensor >= 0).all() & (ends[-1] == nodes)
        yield _in_order(numbers[1:], places), rises & (tensor[0] == 0) & (tensor[-1] == nodes)


def _in_order(ends: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    return torch.searchsorted(ends.contiguous(), places.to(ends.device), right=True)


def _reached(edges: torch.Tensor, owner: torch.Tensor, fits: torch.Tensor) -> torch.Tensor:
    """Whether this is a division, and then: graphs, how many of them have an edge, and the last that does."""
    safe = owner.clamp(0, len(owner) - 1)
    ends = safe[edges.long().clamp(0, len(owner) - 1).flatten()]
    reached = torch.zeros_like(safe).index_fill(0, ends, 1).sum()
    return torch.stack([fits.long(), safe[-1] + 1, reached, ends.max()]).float()
