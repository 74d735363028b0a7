"""Double DQN on a sparse-reward grid. Values start at zero, so the TD error first grows while the agent gets better."""

import random

import torch
from torch import nn
from torch.nn import functional as F


class Grid:
    """5x5, start in a corner, goal in the other one: reward 10 there, nothing anywhere else."""

    size, moves = 5, ((0, 1), (0, -1), (1, 0), (-1, 0))

    def reset(self):
        self.x = self.y = self.t = 0
        return self.encode()

    def encode(self):
        return (self.x, self.y)

    def step(self, action):
        dx, dy = self.moves[action]
        self.x = min(max(self.x + dx, 0), self.size - 1)
        self.y = min(max(self.y + dy, 0), self.size - 1)
        self.t += 1
        won = self.x == self.y == self.size - 1
        return self.encode(), 10.0 if won else 0.0, won, won or self.t >= 40


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(25, 32)
        self.head = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4))
        nn.init.zeros_(self.head[-1].weight)
        nn.init.zeros_(self.head[-1].bias)

    def forward(self, cells):
        return self.head(self.embed(cells[:, 0] * 5 + cells[:, 1]))


class Agent:
    def __init__(self, gamma=0.95, lr=2e-3):
        self.online, self.target = QNetwork(), QNetwork()
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.buffer, self.gamma, self.updates = [], gamma, 0

    @torch.no_grad()
    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        q = self.online(torch.tensor([state]))[0]
        best = (q == q.max()).nonzero().flatten().tolist()
        return random.choice(best)

    def learn(self, size=48):
        s, a, r, s2, d = zip(*random.sample(self.buffer, size))
        s, a, s2 = torch.tensor(s), torch.tensor(a), torch.tensor(s2)
        r, d = torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        with torch.no_grad():
            choice = self.online(s2).argmax(1, keepdim=True)
            target = r + self.gamma * (1 - d) * self.target(s2).gather(1, choice).squeeze(1)
        q = self.online(s).gather(1, a[:, None]).squeeze(1)
        loss = F.mse_loss(q, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % 25 == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()


def main():
    torch.set_num_threads(1)
    random.seed(5)
    torch.manual_seed(5)
    env, agent, lengths = Grid(), Agent(), []
    for episode in range(150):
        state, done, losses = env.reset(), False, []
        while not done:
            action = agent.act(state, max(0.1, 1 - episode / 60))
            following, reward, won, done = env.step(action)
            agent.buffer.append((state, action, reward, following, won))
            state = following
            if len(agent.buffer) > 100 and env.t % 5 == 0:
                losses.append(agent.learn())
        lengths.append(env.t)
        if episode % 25 == 24:
            print(episode + 1, sum(lengths[-25:]) / 25, losses[-1] if losses else None)
    assert sum(lengths[-25:]) / 25 < 14, lengths[-25:]


if __name__ == "__main__":
    main()
