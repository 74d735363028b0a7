"""Policy gradient for a delivery robot in a windy corridor."""
import random
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

SEED = 11
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


class Corridor:
    """`n` robots side by side; each starts somewhere and has to stop exactly on its own goal cell."""

    def __init__(self, n, width=7, horizon=10, rng=None):
        self.n, self.width, self.horizon = n, width, horizon
        self.rng = rng or np.random.default_rng(0)

    def reset(self):
        self.pos = self.rng.integers(0, self.width, self.n)
        self.goal = self.rng.integers(0, self.width, self.n)
        self.t = 0
        return self.obs()

    def obs(self):
        o = np.zeros((self.n, 2 * self.width - 1), np.float32)
        o[np.arange(self.n), self.goal - self.pos + self.width - 1] = 1
        return torch.from_numpy(o)

    def step(self, a):
        a = a.numpy() - 1                                  # left, stay, right
        gust = self.rng.random(self.n) < 0.15
        a = np.where(gust, self.rng.integers(-1, 2, self.n), a)
        self.pos = np.clip(self.pos + a, 0, self.width - 1)
        self.t += 1
        reward = (self.pos == self.goal).astype(np.float32) - 0.1 * (a != 0)
        return self.obs(), torch.tensor(reward, dtype=torch.float32), self.t >= self.horizon


class Policy(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 64), nn.Tanh())
        self.pi = nn.Linear(64, 3)
        self.v = nn.Linear(64, 1)

    def forward(self, o):
        h = self.body(o)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def rollout(env, policy, greedy=False):
    o, done = env.reset(), False
    logp, values, rewards, ents = [], [], [], []
    while not done:
        dist, v = policy(o)
        a = dist.probs.argmax(-1) if greedy else dist.sample()
        o, r, done = env.step(a)
        logp.append(dist.log_prob(a)); values.append(v); rewards.append(r); ents.append(dist.entropy())
    return map(torch.stack, (logp, values, rewards, ents))


env = Corridor(64, rng=np.random.default_rng(SEED))
test_env = Corridor(400, rng=np.random.default_rng(SEED + 1))
policy = Policy(2 * env.width - 1)
opt = torch.optim.Adam(policy.parameters(), lr=6e-3)
gamma = 0.8

for it in range(201):
    logp, values, rewards, ents = rollout(env, policy)
    g, returns = torch.zeros(env.n), []
    for r in rewards.flip(0):
        g = r + gamma * g
        returns.insert(0, g)
    returns = torch.stack(returns)
    adv = returns - values.detach()
    loss_pi = -(logp * adv).mean()
    loss_v = (values - returns).pow(2).mean()
    loss = loss_pi + 0.5 * loss_v - 0.02 * ents.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        with torch.no_grad():
            _, _, r, _ = rollout(test_env, policy, greedy=True)
        print(f"iter {it:3d} loss {loss.item():+.4f} policy {loss_pi.item():+.4f} value {loss_v.item():.3f} "
              f"entropy {ents.mean().item():.3f} val_return {r.sum(0).mean().item():.3f}")
