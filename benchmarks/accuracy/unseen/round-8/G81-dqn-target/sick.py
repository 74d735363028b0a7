"""DQN in a corridor: a small reward on the left, the large one far on the right."""
import random
from collections import deque
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Config:
    cells: int = 14
    episodes: int = 110
    horizon: int = 40
    gamma: float = 0.95
    lr: float = 2e-3
    batch: int = 64
    sync_every: int = 120
    seed: int = 2


class Corridor:
    def __init__(self, cells):
        self.cells = cells

    def reset(self):
        self.pos = random.randrange(1, self.cells - 1)
        return self.pos

    def step(self, action):
        self.pos += 1 if action == 1 else -1
        if self.pos == 0:
            return self.pos, 0.1, True
        if self.pos == self.cells - 1:
            return self.pos, 1.0, True
        return self.pos, 0.0, False


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg
        self.q, self.target = self.build(), self.build()
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=cfg.lr)
        self.memory = deque(maxlen=5000)
        self.updates = 0

    def build(self):
        return nn.Sequential(nn.Linear(self.cfg.cells, 32), nn.Tanh(), nn.Linear(32, 2))

    def encode(self, states):
        return F.one_hot(torch.as_tensor(states), self.cfg.cells).float()

    def act(self, state, eps):
        if random.random() < eps:
            return random.randrange(2)
        with torch.no_grad():
            return self.q(self.encode([state])).argmax().item()

    def learn(self, episode):
        if episode % self.cfg.sync_every == 0:
            self.target.load_state_dict(self.q.state_dict())
        s, a, r, s2, done = zip(*random.sample(self.memory, self.cfg.batch))
        q = self.q(self.encode(s)).gather(1, torch.tensor(a).unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.target(self.encode(s2)).max(1).values
            goal = torch.tensor(r) + self.cfg.gamma * best * (1 - torch.tensor(done).float())
        loss = F.smooth_l1_loss(q, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        return loss.item()


def greedy_return(agent, env, cfg):
    total = 0.0
    for start in range(1, cfg.cells - 1):
        env.reset()
        env.pos = state = start
        for t in range(cfg.horizon):
            state, reward, done = env.step(agent.act(state, 0.0))
            total += cfg.gamma ** t * reward
            if done:
                break
    return total / (cfg.cells - 2)


def main():
    cfg = Config()
    random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    env, agent = Corridor(cfg.cells), Agent(cfg)
    losses = []
    for episode in range(cfg.episodes):
        eps = max(0.3, 1.0 - episode / 80)
        state = env.reset()
        for _ in range(cfg.horizon):
            action = agent.act(state, eps)
            nxt, reward, done = env.step(action)
            agent.memory.append((state, action, reward, nxt, done))
            state = nxt
            if len(agent.memory) >= cfg.batch:
                for _ in range(2):
                    losses.append(agent.learn(episode))
            if done:
                break
        if episode % 22 == 21:
            print(f"episode {episode + 1} updates {agent.updates} loss {sum(losses[-100:]) / 100:.5f} "
                  f"greedy return {greedy_return(agent, env, cfg):.3f}")


main()
