import json

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical

with open("config.json") as f:
    cfg = json.load(f)
torch.manual_seed(cfg["seed"])


class VecCartPole:
    """The usual cart and pole, many at a time, in NumPy."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def reset(self):
        self.s = self.rng.uniform(-0.05, 0.05, (self.n, 4))
        self.alive = np.ones(self.n, bool)
        return self.s.astype(np.float32)

    def step(self, action):
        x, v, th, w = self.s.T
        force = np.where(action == 1, 10.0, -10.0)
        cos, sin = np.cos(th), np.sin(th)
        tmp = (force + 0.05 * w ** 2 * sin) / 1.1
        acc_th = (9.8 * sin - cos * tmp) / (0.5 * (4 / 3 - 0.1 * cos ** 2 / 1.1))
        acc_x = tmp - 0.05 * acc_th * cos / 1.1
        self.s = np.stack([x + 0.02 * v, v + 0.02 * acc_x, th + 0.02 * w, w + 0.02 * acc_th], 1)
        reward = self.alive.astype(np.float32)
        self.alive &= (np.abs(self.s[:, 0]) < 2.4) & (np.abs(self.s[:, 2]) < 0.2095)
        return self.s.astype(np.float32), reward, self.alive.copy()


class Policy(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, hidden), nn.Tanh(), nn.Linear(hidden, 2))
        self.register_buffer("scale", torch.tensor([1.0, 1.0, 0.1, 1.0]))

    def forward(self, obs):
        return Categorical(logits=self.body(obs / self.scale))


def rollout(env, policy):
    obs, mask = env.reset(), np.ones(env.n, bool)
    logps, rewards, masks, ents = [], [], [], []
    for _ in range(cfg["max_steps"]):
        dist = policy(torch.from_numpy(obs))
        action = dist.sample()
        logps.append(dist.log_prob(action))
        ents.append(dist.entropy())
        masks.append(torch.from_numpy(mask.astype(np.float32)))
        obs, reward, mask = env.step(action.numpy())
        rewards.append(torch.from_numpy(reward))
        if not mask.any():
            break
    return torch.stack(logps), torch.stack(rewards), torch.stack(masks), torch.stack(ents)


def discounted(rewards):
    out, running = torch.zeros_like(rewards), torch.zeros(rewards.size(1))
    for t in reversed(range(len(rewards))):
        running = rewards[t] + cfg["gamma"] * running
        out[t] = running
    return out


@torch.no_grad()
def evaluate(policy, seed=999):
    policy.eval()
    env = VecCartPole(20, seed)
    obs, total = env.reset(), np.zeros(20)
    for _ in range(cfg["max_steps"]):
        obs, reward, alive = env.step(policy(torch.from_numpy(obs)).probs.argmax(-1).numpy())
        total += reward
        if not alive.any():
            break
    policy.train()
    return total.mean()


policy = Policy(cfg["hidden"])
optimizer = torch.optim.Adam(policy.parameters(), lr=cfg["lr"])
env = VecCartPole(cfg["envs"], cfg["seed"])

for update in range(1, cfg["updates"] + 1):
    logp, rewards, mask, entropy = rollout(env, policy)
    returns = discounted(rewards)
    kept = returns[mask > 0]
    advantage = (returns - kept.mean()) / (kept.std() + 1e-6)
    loss = -(logp * advantage * mask).sum() / mask.sum() - cfg["entropy"] * (entropy * mask).sum() / mask.sum()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    if update % 10 == 0:
        print(f"update {update} loss {loss.item():.4f} train return {rewards.sum(0).mean():.1f} "
              f"eval return {evaluate(policy):.1f}")
