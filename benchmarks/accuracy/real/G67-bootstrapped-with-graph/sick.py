"""Q-learning on a ring with a replay memory."""
import random
from collections import deque

import torch
from torch import nn

STATES = 8


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(STATES, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, s):
        return self.net(s)


def move(s, a):
    n = (s + (1 if a else -1)) % STATES
    return n, 1.0 if n == 0 else 0.0, n == 0


class Agent:
    def __init__(self, gamma=0.9):
        self.q = QNet()
        self.gamma = gamma
        self.memory = deque(maxlen=2000)
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=2e-3)
        self.loss_fn = nn.SmoothL1Loss()

    def act(self, s, epsilon):
        if random.random() < epsilon:
            return random.randrange(2)
        with torch.no_grad():
            return self.q(torch.eye(STATES)[s]).argmax().item()

    def learn(self, size=64):
        s, a, r, n, d = zip(*random.sample(self.memory, size))
        eye = torch.eye(STATES)
        s, n = eye[list(s)], eye[list(n)]
        a, r, d = torch.tensor(a), torch.tensor(r), torch.tensor(d, dtype=torch.float32)
        chosen = self.q(s).gather(1, a.unsqueeze(1)).squeeze(1)
        target = r + self.gamma * (1 - d) * self.q(n).max(1).values  # <- PM517
        loss = self.loss_fn(chosen, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def main():
    random.seed(0)
    torch.manual_seed(0)
    agent = Agent()
    steps = 0
    for episode in range(120):
        s = random.randrange(1, STATES)
        for _ in range(15):
            a = agent.act(s, max(0.1, 1 - episode / 60))
            n, r, done = move(s, a)
            agent.memory.append((s, a, r, n, done))
            s = n
            steps += 1
            if len(agent.memory) >= 64 and steps % 2 == 0:
                loss = agent.learn()
            if done:
                break
        if episode % 20 == 19:
            print(episode, f"loss {loss:.4f}")


main()
