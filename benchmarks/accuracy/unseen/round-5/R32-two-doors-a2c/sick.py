"""Advantage actor-critic on a corridor with a small prize close by and a large one at the far end."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    length = 9

    def __init__(self, count, rng):
        self.count, self.rng = count, rng
        self.reset(np.ones(count, bool))

    def reset(self, which):
        if not hasattr(self, "place"):
            self.place, self.clock = np.zeros(self.count, int), np.zeros(self.count, int)
        self.place[which], self.clock[which] = 1, 0

    def observe(self):
        return torch.from_numpy(np.eye(self.length, dtype=np.float32)[self.place])

    def step(self, action):
        self.place = np.clip(self.place + np.where(action == 1, 1, -1), 0, self.length - 1)
        self.clock += 1
        small, large = self.place == 0, self.place == self.length - 1
        reward = 0.45 * small + 1.0 * large
        done = small | large | (self.clock >= 24)
        self.reset(done)
        return reward.astype(np.float32), done.astype(np.float32)


class ActorCritic(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, 32), nn.Tanh())
        self.pi = nn.Linear(32, 2)
        self.v = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.body(obs)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


def compute_entropy(dist):
    return dist.entropy().mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--envs", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=8)
    ap.add_argument("--updates", type=int, default=400)
    ap.add_argument("--entropy-cost", type=float, default=0.1)
    ap.add_argument("--gamma", type=float, default=0.97)
    args = ap.parse_args()
    torch.manual_seed(81)
    torch.set_num_threads(1)
    env = Corridor(args.envs, np.random.default_rng(81))
    net = ActorCritic(env.length)
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    prizes = []
    for update in range(1, args.updates + 1):
        logp, values, entropies, rewards, dones = [], [], [], [], []
        for _ in range(args.horizon):
            dist, value = net(env.observe())
            action = dist.sample()
            reward, done = env.step(action.numpy())
            logp.append(dist.log_prob(action))
            values.append(value)
            entropies.append(compute_entropy(dist))
            rewards.append(torch.from_numpy(reward))
            dones.append(torch.from_numpy(done))
            prizes.extend(reward[done > 0])
        with torch.no_grad():
            ret = net(env.observe())[1]
        returns = []
        for reward, done in zip(reversed(rewards), reversed(dones)):
            ret = reward + args.gamma * (1 - done) * ret
            returns.insert(0, ret)
        returns, values = torch.stack(returns), torch.stack(values)
        advantage = (returns - values).detach()
        policy_loss = -(torch.stack(logp) * advantage).mean()
        value_loss = 0.5 * (returns - values).pow(2).mean()
        entropy_loss = args.entropy_cost * torch.stack(entropies).mean()
        total_loss = policy_loss + value_loss + entropy_loss  # <- PM516
        opt.zero_grad()
        total_loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        if update % 80 == 0:
            print(f"update {update} entropy {torch.stack(entropies).mean():.3f} mean prize {np.mean(prizes[-200:]):.3f}")


if __name__ == "__main__":
    main()
