"""Research fields of papers in a citation graph, with a two-layer graph convolution trained on the whole graph."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FIELDS, PAPERS, WORDS = 4, 600, 120


def make_citations() -> tuple[Tensor, Tensor, Tensor]:
    """Papers cite mostly within their field and use its vocabulary a little more often."""
    field = torch.randint(FIELDS, (PAPERS,))
    same = field[:, None] == field[None, :]
    edges = (torch.rand(PAPERS, PAPERS) < torch.where(same, 0.02, 0.002)).float().triu(1)
    usage = torch.full((FIELDS, WORDS), 0.05)
    for k in range(FIELDS):
        usage[k, 30 * k : 30 * (k + 1)] = 0.12
    words = torch.bernoulli(usage[field])
    return (words - words.mean(0)) / words.std(0), edges + edges.T, field


def normalise(adjacency: Tensor) -> Tensor:
    adjacency = adjacency + torch.eye(len(adjacency))
    scale = adjacency.sum(dim=1).rsqrt()
    return scale[:, None] * adjacency * scale[None, :]


class GCN(nn.Module):
    def __init__(self, inputs: int, hidden: int, classes: int):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        hidden = self.dropout(F.relu(adjacency @ self.first(x)))
        return adjacency @ self.second(hidden)


torch.set_num_threads(1)
torch.manual_seed(0)
words, edges, field = make_citations()
adjacency = normalise(edges)
order = torch.randperm(PAPERS)
train, val = order[:300], order[300:]

model = GCN(WORDS, 32, FIELDS)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-6, weight_decay=5e-4)  # <- PM206

for epoch in range(1, 251):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(words, adjacency)[train], field[train])
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        model.eval()
        with torch.no_grad():
            predicted = model(words, adjacency).argmax(dim=1)
        accuracy = (predicted[val] == field[val]).float().mean().item()
        print(f"epoch {epoch}  train loss {loss.item():.4f}  val accuracy {accuracy:.3f}")
