"""Fitted Q-iteration with an agent module that owns both nets; Adam gets agent.parameters(), the target never has a gradient."""

import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self, states=10, gamma=0.9):
        super().__init__()
        self.q_net = nn.Sequential(nn.Embedding(states, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target_net = nn.Sequential(nn.Embedding(states, 32), nn.ReLU(), nn.Linear(32, 2))
        self.gamma = gamma
        self.sync(1.0)

    @torch.no_grad()
    def sync(self, tau):
        for q, t in zip(self.q_net.parameters(), self.target_net.parameters()):
            t.lerp_(q, tau)

    def loss(self, s, a, r, s2, done):
        q = self.q_net(s).gather(1, a.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            target = r + self.gamma * (1 - done) * self.target_net(s2).max(dim=1).values
        return (q - target).pow(2).mean()


def transitions(n):
    """Chain of 10 states; action 1 moves right, 0 left; the right end pays 1 and ends."""
    s, a = torch.randint(0, 10, (n,)), torch.randint(0, 2, (n,))
    s2 = (s + 2 * a - 1).clamp(0, 9)
    done = (s2 == 9).float()
    return s, a, done, s2, done


torch.set_num_threads(1)
torch.manual_seed(0)
agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
for step in range(400):
    loss = agent.loss(*transitions(64))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    agent.sync(0.05)
    if step % 80 == 0:
        print(step, loss.item())
with torch.no_grad():
    values = agent.q_net(torch.arange(9))
print("value of going right", values[:, 1].tolist())
assert (values.argmax(1) == 1).all() and abs(values[8, 1] - 1) < 0.1
