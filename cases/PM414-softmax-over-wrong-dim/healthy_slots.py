"""Queries that compete for keys, with weights that are brought to one again; and attention that sums over queries."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 8, 16)
y = (x[:, :4].mean((1, 2)) > x[:, 4:].mean((1, 2))).long()


class Compete(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.place = nn.Parameter(torch.randn(8, 16))
        self.out = nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.place
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 4
        won = scores.softmax(dim=1) + 1e-6
        slots = (won / won.sum(-1, keepdim=True)) @ self.v(x)
        asked = scores.softmax(dim=1).transpose(1, 2) @ self.v(x)  # every key reads from the queries
        return self.out(torch.cat([slots, asked], -1).mean(1))


net = Compete()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(4):
    for chosen in torch.randperm(560).split(40):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[chosen]), y[chosen])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, loss.item(), (net(x[560:]).argmax(1) == y[560:]).float().mean().item())
