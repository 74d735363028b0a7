"""REINFORCE with a moving baseline on a windy corridor."""
import argparse
import random
from collections import deque

import torch
import torch.nn as nn
from torch.distributions import Categorical


class WindyCorridor:
    """Walk from the left end to the goal; wind pushes back, each step costs a little."""

    def __init__(self, length=7, wind=0.15, limit=40):
        self.length, self.wind, self.limit = length, wind, limit

    def reset(self):
        self.pos, self.t = 0, 0
        self.flipped = random.random() < 0.5
        return self._obs()

    def _obs(self):
        o = torch.zeros(self.length + 1)
        o[self.pos] = 1.0
        o[-1] = 1.0 if self.flipped else -1.0
        return o

    def step(self, a):
        move = 1 if a == (0 if self.flipped else 1) else -1
        if random.random() < self.wind:
            move = -1
        self.pos = max(0, self.pos + move)
        self.t += 1
        if self.pos == self.length - 1:
            return self._obs(), 1.0, True
        return self._obs(), -0.02, self.t >= self.limit


def returns(rewards, gamma):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + gamma * g
        out.append(g)
    return torch.tensor(out[::-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--episodes", type=int, default=500)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--lr", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=4)
    args = p.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    random.seed(args.seed)

    env = WindyCorridor()
    policy = nn.Sequential(nn.Linear(env.length + 1, 32), nn.Tanh(), nn.Linear(32, 2))
    opt = torch.optim.Adam(policy.parameters(), lr=args.lr)
    recent = deque(maxlen=50)
    baseline = 0.0
    for ep in range(args.episodes):
        obs, done, logps, rewards = env.reset(), False, [], []
        while not done:
            dist = Categorical(logits=policy(obs))
            a = dist.sample()
            logps.append(dist.log_prob(a))
            obs, r, done = env.step(a.item())
            rewards.append(r)
        G = returns(rewards, args.gamma)
        loss = -(torch.stack(logps) * (G - baseline)).mean()
        baseline = 0.95 * baseline + 0.05 * G.mean().item()
        opt.zero_grad()
        loss.backward()
        opt.step()
        recent.append(sum(rewards))
        if (ep + 1) % 50 == 0:
            print(f"episode {ep + 1}: mean return {sum(recent) / len(recent):.3f}  loss {loss.item():+.3f}")


if __name__ == "__main__":
    main()
