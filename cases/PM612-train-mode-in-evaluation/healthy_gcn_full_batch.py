"""Semi-supervised node classification: full-batch GCN on a random community graph, evaluated every epoch."""

import torch
import torch.nn.functional as F
from torch import nn

NODES, COMMUNITIES, FEATURES = 180, 3, 16


def community_graph() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    label = torch.arange(NODES) % COMMUNITIES
    same = label.unsqueeze(0) == label.unsqueeze(1)
    probability = torch.where(same, 0.10, 0.02)
    upper = torch.triu((torch.rand(NODES, NODES) < probability).float(), diagonal=1)
    adjacency = upper + upper.t() + torch.eye(NODES)
    scale = adjacency.sum(1).rsqrt()
    centres = torch.randn(COMMUNITIES, FEATURES)
    return scale.unsqueeze(1) * adjacency * scale, 0.5 * centres[label] + torch.randn(NODES, FEATURES), label


class GraphConvolution(nn.Module):
    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        return adjacency @ self.linear(x)


class GCN(nn.Module):
    def __init__(self, hidden: int = 16) -> None:
        super().__init__()
        self.conv1 = GraphConvolution(FEATURES, hidden)
        self.conv2 = GraphConvolution(hidden, COMMUNITIES)

    def forward(self, x: torch.Tensor, adjacency: torch.Tensor) -> torch.Tensor:
        hidden = F.relu(self.conv1(x, adjacency))
        hidden = F.dropout(hidden, 0.5, training=self.training)
        return F.log_softmax(self.conv2(hidden, adjacency), dim=1)


torch.set_num_threads(1)
torch.manual_seed(0)
adjacency, features, labels = community_graph()
order = torch.randperm(NODES)
train_nodes, val_nodes, test_nodes = order[:40], order[40:90], order[90:]

model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(1, 121):
    model.train()
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss = F.nll_loss(output[train_nodes], labels[train_nodes])
    loss.backward()
    optimizer.step()
    train_accuracy = (output[train_nodes].argmax(1) == labels[train_nodes]).float().mean()

    model.eval()
    with torch.no_grad():
        output = model(features, adjacency)
        val_loss = F.nll_loss(output[val_nodes], labels[val_nodes])
        val_accuracy = (output[val_nodes].argmax(1) == labels[val_nodes]).float().mean()
    if epoch % 20 == 0:
        print(
            f"epoch {epoch}: train loss {loss.item():.3f}  train accuracy {train_accuracy:.3f}  "
            f"val loss {val_loss:.3f}  val accuracy {val_accuracy:.3f}"
        )

test_accuracy = (output[test_nodes].argmax(1) == labels[test_nodes]).float().mean()
print(f"test accuracy {test_accuracy:.3f}  (chance {1 / COMMUNITIES:.3f})")
