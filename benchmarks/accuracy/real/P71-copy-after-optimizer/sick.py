"""Federated averaging, three clients that train copies of a global model."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Client:
    def __init__(self, number, x, y, model, lr):
        self.number, self.x, self.y = number, x, y
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)  # <- PM407

    def receive(self, global_model):
        self.model = copy.deepcopy(global_model)

    def train(self, epochs=2):
        self.model.train()
        for _ in range(epochs):
            for rows in torch.randperm(len(self.x)).split(25):
                loss = F.cross_entropy(self.model(self.x[rows]), self.y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()


def average(clients):
    states = [client.model.state_dict() for client in clients]
    return {key: torch.stack([s[key].float() for s in states]).mean(0) for key in states[0]}


def new_model():
    return nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 3))


def main(rounds=10):
    torch.manual_seed(21)
    w = torch.randn(10, 3)
    x = torch.randn(900, 10)
    y = (x @ w).argmax(1)
    parts = torch.arange(750).chunk(3)
    clients = [Client(i, x[p], y[p], new_model(), 0.05) for i, p in enumerate(parts)]
    server = new_model()
    for r in range(rounds):
        losses = []
        for client in clients:
            client.receive(server)
            losses.append(client.train())
        server.load_state_dict(average(clients))
        with torch.no_grad():
            accuracy = (server(x[750:]).argmax(1) == y[750:]).float().mean().item()
        print(f"round {r} losses {[round(v, 3) for v in losses]} accuracy {accuracy:.3f}")


main()
