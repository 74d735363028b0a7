"""Full-batch GCN, a GAT layer with softmax over neighbours, and GraphSAGE with neighbour sampling, on a block model."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
N, C = 120, 3
label = torch.arange(N) % C
chance = torch.where(label[:, None] == label[None], 0.2, 0.01)
upper = torch.triu(torch.bernoulli(chance), 1)
adjacency = upper + upper.T + torch.eye(N)
features = F.one_hot(label, C).float() * 0.8 + 0.6 * torch.randn(N, C)
features = torch.cat([features, torch.randn(N, 5)], 1)
train_mask = torch.zeros(N, dtype=torch.bool)
train_mask[torch.randperm(N)[:40]] = True


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.drop = nn.Linear(8, 16), nn.Linear(16, C), nn.Dropout(0.3)
        degree = adjacency.sum(1)
        self.register_buffer("propagate", adjacency / (degree[:, None] * degree[None]).sqrt())

    def forward(self, x):
        return self.propagate @ self.b(self.drop(F.relu(self.propagate @ self.a(x))))


class GAT(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.w, self.out = nn.Linear(8, d, bias=False), nn.Linear(d, C)
        self.source, self.target = nn.Parameter(torch.randn(d, 1) * 0.1), nn.Parameter(torch.randn(d, 1) * 0.1)

    def forward(self, x):
        h = self.w(x)
        score = F.leaky_relu(h @ self.source + (h @ self.target).T, 0.2)  # (N, 1) + (1, N)
        attention = F.softmax(score.masked_fill(adjacency == 0, float("-inf")), dim=1)
        return self.out(F.elu(attention @ h))


class SAGE(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.own, self.near, self.out = nn.Linear(8, d), nn.Linear(8, d), nn.Linear(d, C)

    def forward(self, x, nodes, k=6):
        neighbours = torch.multinomial(adjacency[nodes], k, replacement=True)
        return self.out(F.relu(self.own(x[nodes]) + self.near(x[neighbours].mean(1))))


def accuracy(logits):
    return (logits.argmax(1) == label)[~train_mask].float().mean().item()


results = []
for model in (GCN(), GAT()):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
    for epoch in range(80):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(features)[train_mask], label[train_mask])
        loss.backward()
        optimizer.step()
        if epoch % 20 == 0:
            model.eval()
            with torch.no_grad():
                print(type(model).__name__, epoch, loss.item(), accuracy(model(features)))
    model.eval()
    with torch.no_grad():
        results.append(accuracy(model(features)))

sage = SAGE()
optimizer = torch.optim.Adam(sage.parameters(), lr=0.01)
training = train_mask.nonzero().squeeze(1)
for epoch in range(30):
    for nodes in training[torch.randperm(len(training))].split(10):
        loss = F.cross_entropy(sage(features, nodes), label[nodes])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    results.append(accuracy(sage(features, torch.arange(N))))
print(results)
assert min(results) > 0.7
