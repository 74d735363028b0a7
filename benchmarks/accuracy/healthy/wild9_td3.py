"""TD3 with twin critics, delayed actor and smoothed targets on a damped point mass."""
import copy
import random
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


class PointMass:
    """Drive a mass to the origin with a bounded force."""

    def __init__(self, seed, limit=40):
        self.rng, self.limit = np.random.default_rng(seed), limit

    def reset(self):
        self.x, self.v, self.t = self.rng.uniform(-1, 1), self.rng.uniform(-0.3, 0.3), 0
        return np.array([self.x, self.v], dtype=np.float32)

    def step(self, a):
        self.v = 0.9 * self.v + 0.15 * float(a)
        self.x = float(np.clip(self.x + self.v, -2, 2))
        self.t += 1
        reward = -(self.x ** 2) - 0.05 * float(a) ** 2
        return np.array([self.x, self.v], dtype=np.float32), reward, self.t >= self.limit


def mlp(i, o):
    return nn.Sequential(nn.Linear(i, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, o))


class TD3:
    def __init__(self):
        self.actor = nn.Sequential(mlp(2, 1), nn.Tanh())
        self.q1, self.q2 = mlp(3, 1), mlp(3, 1)
        self.actor_t, self.q1_t, self.q2_t = (copy.deepcopy(m).requires_grad_(False)
                                              for m in (self.actor, self.q1, self.q2))
        self.opt_a = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.opt_q = torch.optim.Adam([*self.q1.parameters(), *self.q2.parameters()], lr=1e-3)
        self.gamma, self.tau, self.calls = 0.97, 0.01, 0

    @torch.no_grad()
    def act(self, obs, noise=0.0):
        a = self.actor(torch.from_numpy(obs)[None])[0]
        return float((a + noise * torch.randn(1)).clamp(-1, 1))

    def learn(self, obs, act, rew, nxt):
        self.calls += 1
        with torch.no_grad():
            jitter = (0.2 * torch.randn_like(act)).clamp(-0.5, 0.5)
            a2 = (self.actor_t(nxt) + jitter).clamp(-1, 1)
            sa2 = torch.cat([nxt, a2], 1)
            target = rew + self.gamma * torch.min(self.q1_t(sa2), self.q2_t(sa2))
        sa = torch.cat([obs, act], 1)
        q_loss = F.mse_loss(self.q1(sa), target) + F.mse_loss(self.q2(sa), target)
        self.opt_q.zero_grad()
        q_loss.backward()
        self.opt_q.step()
        if self.calls % 2 == 0:
            a_loss = -self.q1(torch.cat([obs, self.actor(obs)], 1)).mean()
            self.opt_a.zero_grad()
            a_loss.backward()
            self.opt_a.step()
            with torch.no_grad():
                for t, s in ((self.actor_t, self.actor), (self.q1_t, self.q1), (self.q2_t, self.q2)):
                    for a, b in zip(t.parameters(), s.parameters()):
                        a.lerp_(b, self.tau)
        return q_loss.item()


def score(agent, episodes=10):
    env, total = PointMass(555), 0.0
    for _ in range(episodes):
        obs, over = env.reset(), False
        while not over:
            obs, r, over = env.step(agent.act(obs))
            total += r
    return total / episodes


def main():
    random.seed(0)
    torch.manual_seed(0)
    env, agent, memory = PointMass(0), TD3(), deque(maxlen=5000)
    obs, losses = env.reset(), []
    print(f"return before training {score(agent):.3f}")
    for t in range(1, 2201):
        a = random.uniform(-1, 1) if t < 400 else agent.act(obs, 0.2)
        nxt, r, over = env.step(a)
        memory.append((obs, a, r, nxt))
        obs = env.reset() if over else nxt
        if t >= 400:
            o, ac, re, nx = zip(*random.sample(memory, 64))
            losses.append(agent.learn(torch.from_numpy(np.stack(o)), torch.tensor(ac)[:, None],
                                      torch.tensor(re, dtype=torch.float32)[:, None], torch.from_numpy(np.stack(nx))))
        if t % 600 == 400 and t > 400:
            print(f"step {t}  critic loss {np.mean(losses[-200:]):.4f}  return {score(agent):.3f}")


if __name__ == "__main__":
    main()
