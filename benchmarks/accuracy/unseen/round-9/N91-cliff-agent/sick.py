"""Deep Q-learning on a slippery corridor with a trap, soft target updates."""
import argparse
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class Corridor:
    """Walk right over `size` cells; each move slips with some chance; the far end pays."""

    def __init__(self, size=12, slip=0.1, limit=60, seed=0):
        self.size, self.slip, self.limit = size, slip, limit
        self.rng = np.random.default_rng(seed)

    def observe(self):
        obs = np.zeros(self.size + 1, dtype=np.float32)
        obs[self.pos] = 1.0
        obs[-1] = self.wind
        return obs

    def reset(self):
        self.pos, self.t = 1, 0
        self.wind = float(self.rng.choice([-1.0, 1.0]))
        return self.observe()

    def step(self, action):
        move = (1 if action == 1 else -1) * (1 if self.wind > 0 else -1)
        if self.rng.random() < self.slip:
            move = -move
        self.pos = int(np.clip(self.pos + move, 0, self.size - 1))
        self.wind = float(self.rng.choice([-1.0, 1.0]))
        self.t += 1
        if self.pos == self.size - 1:
            return self.observe(), 1.0, True, False
        if self.pos == 0:
            return self.observe(), -0.2, True, False
        return self.observe(), 0.0, False, self.t >= self.limit


class Agent:
    def __init__(self, obs_dim, n_actions, lr=1e-3, gamma=0.97, tau=0.02):
        self.q = nn.Sequential(nn.Linear(obs_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                               nn.Linear(64, n_actions))
        self.target = copy.deepcopy(self.q).requires_grad_(False)
        self.opt = torch.optim.Adam(self.q.parameters(), lr=lr)
        self.gamma, self.tau, self.n_actions = gamma, tau, n_actions

    @torch.no_grad()
    def act(self, obs, eps):
        if random.random() < eps:
            return random.randrange(self.n_actions)
        return int(self.q(torch.from_numpy(obs)).argmax())

    @torch.no_grad()
    def blend(self):
        online = dict(self.target.named_parameters())
        for name, p in self.target.named_parameters():
            p.lerp_(online[name], self.tau)

    def learn(self, batch):
        obs, act, rew, nxt, done = batch
        with torch.no_grad():
            best = self.q(nxt).argmax(dim=1, keepdim=True)
            bootstrap = self.target(nxt).gather(1, best).squeeze(1)
            goal = rew + self.gamma * (1 - done) * bootstrap
        value = self.q(obs).gather(1, act[:, None]).squeeze(1)
        loss = F.smooth_l1_loss(value, goal)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.blend()
        return loss.item(), value.mean().item()


def collate(rows):
    o, a, r, n, d = zip(*rows)
    return (torch.from_numpy(np.stack(o)), torch.tensor(a), torch.tensor(r, dtype=torch.float32),
            torch.from_numpy(np.stack(n)), torch.tensor(d, dtype=torch.float32))


def evaluate(agent, episodes=60):
    env, total = Corridor(seed=999), 0.0
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            obs, r, terminated, truncated = env.step(agent.act(obs, 0.02))
            total += r
            over = terminated or truncated
    return total / episodes


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=4000)
    ap.add_argument("--seed", type=int, default=2)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    env = Corridor(seed=args.seed)
    obs = env.reset()
    agent = Agent(len(obs), 2)
    memory, losses = deque(maxlen=4000), []
    for t in range(1, args.steps + 1):
        eps = max(0.1, 1.0 - t / 2500)
        a = agent.act(obs, eps)
        nxt, r, terminated, truncated = env.step(a)
        memory.append((obs, a, r, nxt, terminated))
        obs = env.reset() if terminated or truncated else nxt
        if t > 300 and t % 2 == 0:
            loss, value = agent.learn(collate(random.sample(memory, 64)))
            losses.append(loss)
        if t % 1000 == 0:
            print(f"step {t:5d}  td loss {np.mean(losses[-300:]):.5f}  mean q {value:+.3f}  "
                  f"greedy return {evaluate(agent):+.3f}")


if __name__ == "__main__":
    main()
