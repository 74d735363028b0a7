import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

WIDTH, HEIGHT = 6, 5


class River:
    """Cross a grid against a drift that pushes sideways."""

    moves = [(-1, 0), (1, 0), (0, -1), (0, 1)]

    def reset(self):
        self.y, self.x, self.t = 0, random.randrange(WIDTH), 0
        return self.observe()

    def observe(self):
        grid = np.zeros((HEIGHT, WIDTH), np.float32)
        grid[self.y, self.x] = 1
        return grid.ravel()

    def step(self, action):
        dy, dx = self.moves[action]
        self.t += 1
        self.y = min(max(self.y + dy, 0), HEIGHT - 1)
        self.x = min(max(self.x + dx, 0), WIDTH - 1)
        if 0 < self.y < HEIGHT - 1 and random.random() < 0.25:
            self.x = min(self.x + 1, WIDTH - 1)
        if (self.y, self.x) == (HEIGHT - 1, 0):
            return self.observe(), 1.0, True
        return self.observe(), -0.01, self.t >= 40


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.extractor = nn.Sequential(nn.Linear(WIDTH * HEIGHT, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.q = nn.Linear(32, 4)

    def forward(self, obs):
        return self.q(self.extractor(obs))


class Agent:
    def __init__(self, gamma=0.95, tau=0.02, lr=1e-3):
        self.online, self.target = QNetwork(), QNetwork()
        self.target.load_state_dict(self.online.state_dict())
        self.gamma, self.tau = gamma, tau
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=lr)
        self.buffer = deque(maxlen=5000)

    def act(self, obs, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return int(self.online(torch.from_numpy(obs)).argmax())

    def learn(self, batch_size=32):
        obs, act, rew, nxt, end = map(np.array, zip(*random.sample(self.buffer, batch_size)))
        obs, nxt = torch.from_numpy(obs), torch.from_numpy(nxt)
        rew, end = torch.tensor(rew, dtype=torch.float32), torch.tensor(end, dtype=torch.float32)
        value = self.online(obs).gather(1, torch.tensor(act)[:, None]).squeeze(1)
        with torch.no_grad():
            goal = rew + self.gamma * (1 - end) * self.target(nxt).max(1).values
        loss = nn.functional.smooth_l1_loss(value, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.update_target()
        return loss.item()

    def update_target(self):
        source, target = self.online, self.target
        with torch.no_grad():
            for s, t in zip(source.parameters(), target.parameters()):
                t.lerp_(s, self.tau)


def success(agent, env, episodes=40):
    wins = 0
    for _ in range(episodes):
        obs, done = env.reset(), False
        while not done:
            obs, reward, done = env.step(agent.act(obs, 0.0))
        wins += reward > 0
    return wins / episodes


def main():
    random.seed(70)
    torch.manual_seed(70)
    torch.set_num_threads(1)
    env, agent = River(), Agent()
    obs, steps, losses = env.reset(), 3000, []
    for step in range(1, steps + 1):
        action = agent.act(obs, max(0.1, 1 - step / 1500))
        nxt, reward, done = env.step(action)
        agent.buffer.append((obs, action, reward, nxt, reward > 0))
        obs = env.reset() if done else nxt
        if step > 200:
            losses.append(agent.learn())
        if step % 600 == 0:
            print(f"step {step} td loss {np.mean(losses[-500:]):.4f} success {success(agent, env):.2f}")


main()
