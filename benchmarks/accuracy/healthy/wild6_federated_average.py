"""Federated averaging over eight clients with skewed labels; sizes weight the average."""
import copy

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits

rng = np.random.default_rng(0)
torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
train, test = np.arange(1300), np.arange(1300, len(y))
shares = rng.dirichlet([0.5] * 8, size=10)
clients = [[] for _ in range(8)]
for i in train:
    clients[rng.choice(8, p=shares[int(y[i])])].append(int(i))
clients = [torch.tensor(c) for c in clients if len(c) > 10]

server = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def local_training(model, rows, epochs=2):
    model = copy.deepcopy(model).train()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(epochs):
        for b in rows[torch.randperm(len(rows))].split(20):
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    return model.state_dict(), loss.item()


for rnd in range(15):
    chosen = rng.choice(len(clients), 5, replace=False)
    updates, weights, losses = [], [], []
    for c in chosen:
        state, loss = local_training(server, clients[c])
        updates.append(state)
        weights.append(len(clients[c]))
        losses.append(loss)
    total = sum(weights)
    server.load_state_dict({k: sum(u[k] * (w / total) for u, w in zip(updates, weights)) for k in updates[0]})
    if rnd % 3 == 2:
        server.eval()
        with torch.no_grad():
            acc = (server(x[test]).argmax(1) == y[test]).float().mean()
        print(f"round {rnd + 1}: client loss {np.mean(losses):.3f}, server accuracy {acc:.3f}")
