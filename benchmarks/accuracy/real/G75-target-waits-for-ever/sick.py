"""Double estimator on a small grid, target synchronised by a counter."""
import copy
import random

import torch
from torch import nn


class Agent:
    def __init__(self, sync_every=100):
        self.q = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 4))
        self.target = copy.deepcopy(self.q)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=2e-3)
        self.sync_every = sync_every
        self.updates = 0

    def learn(self, s, a, r, n, done):
        with torch.no_grad():
            goal = r + 0.9 * (1 - done) * self.target(n).max(1).values
        value = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.sync_every == 0:
            self.q.load_state_dict(self.target.state_dict())  # <- PM418
        return loss.item()


def transition(s):
    a = random.randrange(4)
    row, col = divmod(s, 3)
    row, col = max(0, min(2, row + (a == 1) - (a == 0))), max(0, min(2, col + (a == 3) - (a == 2)))
    n = row * 3 + col
    return a, float(n == 8), n, float(n == 8)


def main():
    random.seed(0)
    torch.manual_seed(0)
    agent, eye = Agent(), torch.eye(9)
    for step in range(500):
        rows = [(s, *transition(s)) for s in (random.randrange(8) for _ in range(32))]
        s, a, r, n, done = zip(*rows)
        loss = agent.learn(eye[list(s)], torch.tensor(a), torch.tensor(r), eye[list(n)], torch.tensor(done))
        if step % 100 == 99:
            print(step, f"{loss:.4f}", [round(v, 2) for v in agent.q(eye).max(1).values.tolist()])


main()
