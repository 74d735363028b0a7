"""Federated averaging: every client holds two classes only and trains a copy for a few local steps."""

import copy

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
CLASSES, CLIENTS = 6, 6
centres = 2 * torch.randn(CLASSES, 12)


def local_data(client, n=120):
    y = torch.where(torch.rand(n) < 0.5, client, (client + 1) % CLASSES)
    return centres[y] + torch.randn(n, 12), y


clients = [local_data(i) for i in range(CLIENTS)]
y_test = torch.randint(CLASSES, (600,))
x_test = centres[y_test] + torch.randn(600, 12)
server = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, CLASSES))


def client_update(model, x, y, epochs=1, batch_size=24, lr=0.05):
    model = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(batch_size):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return model.state_dict(), loss.item()


def average(states):
    return {key: torch.stack([s[key] for s in states]).mean(0) for key in states[0]}


for communication in range(16):
    states, losses = zip(*[client_update(server, x, y) for x, y in clients])
    server.load_state_dict(average(states))
    server.eval()
    with torch.no_grad():
        accuracy = (server(x_test).argmax(1) == y_test).float().mean().item()
    if communication % 3 == 0:
        print(communication, sum(losses) / CLIENTS, accuracy)
print("accuracy", accuracy)
assert accuracy > 0.8
