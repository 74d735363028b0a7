"""A graph network on a block model: pre-train by feature denoising, then classify with a new head and an EMA copy."""

import copy

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

NODES, CLASSES, FEATURES, HIDDEN = 240, 4, 16, 32
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class GCN(nn.Module):
    def __init__(self, outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(FEATURES, HIDDEN)
        self.second = nn.Linear(HIDDEN, HIDDEN)
        self.head = nn.Linear(HIDDEN, outputs)

    def forward(self, adjacency: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(adjacency @ self.first(x))
        x = F.relu(adjacency @ self.second(x))
        return self.head(x)


def make_graph() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """A stochastic block model with weakly informative node features."""
    labels = torch.randint(CLASSES, (NODES,))
    same = labels[:, None] == labels[None, :]
    upper = torch.triu(torch.rand(NODES, NODES) < torch.where(same, 0.08, 0.02), diagonal=1).float()
    adjacency = upper + upper.t() + torch.eye(NODES)
    degree = adjacency.sum(dim=1).rsqrt()
    features = torch.randn(CLASSES, FEATURES)[labels] + 0.8 * torch.randn(NODES, FEATURES)
    return degree[:, None] * adjacency * degree[None, :], features, labels


@torch.no_grad()
def accuracy(model: GCN, rows: torch.Tensor) -> float:
    model.eval()
    return (model(adjacency, features)[rows].argmax(dim=1) == labels[rows]).float().mean().item()


adjacency, features, labels = (tensor.to(device) for tensor in make_graph())
order = torch.randperm(NODES, device=device)
train, valid = order[:80], order[80:]

model = GCN(outputs=FEATURES)
denoising_optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
model.to(device)
for step in range(60):
    model.train()
    denoising_optimizer.zero_grad()
    hidden = (torch.rand(NODES, 1, device=device) < 0.3).expand_as(features)
    prediction = model(adjacency, features.masked_fill(hidden, 0.0))
    loss = F.mse_loss(prediction[hidden], features[hidden])
    loss.backward()
    denoising_optimizer.step()
    if step % 20 == 19:
        print(f"denoising {step + 1}: loss {loss.item():.3f}")

model.head = nn.Linear(HIDDEN, CLASSES).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
average = copy.deepcopy(model).requires_grad_(False).eval()
for step in range(80):
    model.train()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(adjacency, features)[train], labels[train])
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(average.parameters(), model.parameters()):
            slow.lerp_(fast, 0.1)
    if step % 20 == 19:
        scores = f"valid accuracy {accuracy(model, valid):.3f}  averaged {accuracy(average, valid):.3f}"
        print(f"classification {step + 1}: loss {loss.item():.3f}  {scores}")
