"""Semi-supervised node classification with a two-layer GCN on a stochastic block model."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

N_NODES, N_CLASSES, N_FEATURES = 400, 4, 16


def block_model(p_in: float = 0.05, p_out: float = 0.008) -> tuple[Tensor, Tensor, Tensor]:
    labels = torch.randint(N_CLASSES, (N_NODES,))
    same = labels[:, None] == labels[None, :]
    edges = (torch.rand(N_NODES, N_NODES) < torch.where(same, p_in, p_out)).float().triu(1)
    centres = torch.randn(N_CLASSES, N_FEATURES)
    features = 0.5 * centres[labels] + torch.randn(N_NODES, N_FEATURES)
    return features, edges + edges.T, labels


def normalise(adjacency: Tensor) -> Tensor:
    with_loops = adjacency + torch.eye(len(adjacency))
    scale = with_loops.sum(1).rsqrt()
    return scale[:, None] * with_loops * scale[None, :]


class GraphConv(nn.Module):
    def __init__(self, n_in: int, n_out: int):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        return adjacency @ self.linear(x)


class GCN(nn.Module):
    def __init__(self, hidden: int = 32, dropout: float = 0.5):
        super().__init__()
        self.conv1 = GraphConv(N_FEATURES, hidden)
        self.conv2 = GraphConv(hidden, N_CLASSES)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, adjacency: Tensor) -> Tensor:
        x = self.dropout(F.relu(self.conv1(x, adjacency)))
        return F.log_softmax(self.conv2(x, adjacency), dim=1)


torch.set_num_threads(1)
torch.manual_seed(3)
features, adjacency, labels = block_model()
adjacency = normalise(adjacency)
order = torch.randperm(N_NODES)
train_nodes, val_nodes = order[:80], order[80:]

model = GCN()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(150):
    model.train()
    optimizer.zero_grad()
    output = model(features, adjacency)
    loss = criterion(output[train_nodes], labels[train_nodes])
    loss.backward()
    optimizer.step()

    if (epoch + 1) % 15 == 0:
        model.eval()
        with torch.no_grad():
            log_probs = model(features, adjacency)[val_nodes]
        accuracy = (log_probs.argmax(1) == labels[val_nodes]).float().mean()
        confidence = log_probs.exp().max(dim=1).values.mean()
        print(f"epoch {epoch + 1:3d}  loss {loss.item():.4f}  val acc {accuracy:.3f}  confidence {confidence:.3f}")
