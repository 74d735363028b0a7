"""A graph convolutional network on a graph with three communities, trained on all nodes at once."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
NODES, CLASSES, FEATURES = 300, 3, 16


def make_graph():
    labels = torch.arange(NODES) % CLASSES
    same = labels[:, None] == labels[None, :]
    edges = torch.rand(NODES, NODES) < torch.where(same, 0.06, 0.008)
    adjacency = torch.triu(edges, diagonal=1).float()
    adjacency = adjacency + adjacency.T + torch.eye(NODES)
    degree = adjacency.sum(1).rsqrt()
    features = torch.randn(NODES, FEATURES) + 0.6 * F.one_hot(labels, FEATURES)
    return features, degree[:, None] * adjacency * degree[None, :], labels


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        return adjacency @ self.linear(x)


class GCN(nn.Module):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.conv1 = GraphConv(inputs, hidden)
        self.conv2 = GraphConv(hidden, classes)

    def forward(self, x, adjacency):
        h = F.relu(self.conv1(x, adjacency))
        h = F.dropout(h, 0.5, training=self.training)
        h = self.conv2(h, adjacency)
        return F.log_softmax(h, dim=1)


features, adjacency, labels = make_graph()
order = torch.randperm(NODES)
train_nodes, val_nodes = order[:90], order[90:]

model = GCN(FEATURES, 32, CLASSES)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(150):
    model.train()
    optimizer.zero_grad()
    out = model(features, adjacency)
    loss = F.nll_loss(out[train_nodes], labels[train_nodes])
    loss.backward()
    optimizer.step()
    if epoch % 30 == 29:
        model.eval()
        with torch.no_grad():
            predicted = model(features, adjacency).argmax(dim=1)
        accuracy = (predicted[val_nodes] == labels[val_nodes]).float().mean().item()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, validation accuracy {accuracy:.3f}")
