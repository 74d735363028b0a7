"""Several graphs in one call: do the edges reach all of them?"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from facts_of import facts_of, training
from paramedic.record.facts import GraphBatch

SIZES = torch.tensor([3, 4, 2, 5, 3])
STARTS = torch.cat([torch.zeros(1, dtype=torch.long), SIZES.cumsum(0)])
OWNERS = torch.repeat_interleave(torch.arange(5), SIZES)
PATHS = [torch.stack([torch.arange(n - 1), torch.arange(1, n)]) for n in SIZES.tolist()]
JOINED = torch.cat([path + start for path, start in zip(PATHS, STARTS.tolist(), strict=False)], dim=1)
PILED = torch.cat(PATHS, dim=1)


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, nodes: Tensor, edges: Tensor, division: Tensor) -> Tensor:
        heard = torch.zeros_like(nodes).index_add(0, edges[1], nodes[edges[0]])
        return torch.zeros(5, 1).index_add(0, OWNERS, self.layer(nodes + heard))


@pytest.mark.parametrize("division", [OWNERS, SIZES, STARTS], ids=["by node", "sizes", "starts"])
@pytest.mark.parametrize(("edges", "reached"), [(JOINED, 5), (PILED, 2)], ids=["moved", "piled up"])
def test_which_graphs_have_edges(edges: Tensor, reached: int, division: Tensor) -> None:
    model, nodes = Network(), torch.randn(17, 4)
    found = facts_of(training(model, lambda: model(nodes, edges, division).square().mean())).facts(GraphBatch)
    assert {(fact.graphs, fact.reached, fact.last) for fact in found} == {(5, reached, reached - 1)}
    assert found[0].answers == [5]


def test_numbers_that_divide_nothing_are_not_taken_for_graphs() -> None:
    model, nodes, kinds = Network(), torch.randn(17, 4), torch.arange(17) % 5
    assert not facts_of(training(model, lambda: model(nodes, JOINED, kinds).square().mean())).facts(GraphBatch)
