"""PPO with separate actor and critic on a small vectorised hover task (numpy, no gym)."""
import argparse
import copy

import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class HoverVec:
    """n drones in parallel; hold altitude 0 with bang-bang thrust under gusts. Episode ends when |h| > 1.5."""
    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.h, self.v = np.zeros(n), np.zeros(n)
        self.reset_where(np.ones(n, bool))

    def reset_where(self, mask):
        self.h[mask] = self.rng.uniform(-0.5, 0.5, mask.sum())
        self.v[mask] = self.rng.uniform(-0.1, 0.1, mask.sum())

    def obs(self):
        return torch.tensor(np.stack([self.h, self.v * 5], 1), dtype=torch.float32)

    def step(self, act):
        self.v += 0.05 * (np.asarray(act) - 1) + self.rng.normal(0, 0.01, self.n)
        self.h += self.v
        dead = np.abs(self.h) > 1.5
        reward = np.where(dead, -3.0, 1.0 - np.abs(self.h))
        self.reset_where(dead)
        return self.obs(), torch.tensor(reward, dtype=torch.float32), torch.tensor(dead, dtype=torch.float32)


def mlp(out):
    return nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, out))


class PPO:
    def __init__(self, args):
        self.args = args
        self.actor, self.critic = mlp(3), mlp(1)
        self.actor_old = self.actor
        self.opt = torch.optim.Adam([
            {"params": self.actor.parameters(), "lr": args.lr},
            {"params": self.critic.parameters(), "lr": 3 * args.lr},
        ])

    def collect(self, env):
        obs, acts, rews, dones = [], [], [], []
        o = env.obs()
        with torch.no_grad():
            for _ in range(self.args.horizon):
                a = Categorical(logits=self.actor_old(o)).sample()
                obs.append(o)
                o, r, d = env.step(a.numpy())
                acts.append(a), rews.append(r), dones.append(d)
            values = self.critic(torch.stack(obs + [o])).squeeze(-1)
        adv, last = [], torch.zeros(env.n)
        for t in reversed(range(self.args.horizon)):
            alive = 1 - dones[t]
            delta = rews[t] + self.args.gamma * values[t + 1] * alive - values[t]
            last = delta + self.args.gamma * self.args.lam * alive * last
            adv.insert(0, last)
        adv = torch.stack(adv)
        return torch.stack(obs).flatten(0, 1), torch.stack(acts).flatten(), adv.flatten(), (adv + values[:-1]).flatten(), torch.stack(rews).mean().item()

    def update(self, obs, acts, adv, ret):
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for _ in range(self.args.epochs):
            for idx in torch.randperm(len(obs)).split(self.args.minibatch):
                dist = Categorical(logits=self.actor(obs[idx]))
                logp = dist.log_prob(acts[idx])
                logp_old = Categorical(logits=self.actor_old(obs[idx])).log_prob(acts[idx])
                ratio = torch.exp(logp - logp_old)
                clipped = ratio.clamp(1 - self.args.clip, 1 + self.args.clip)
                policy_loss = -torch.min(ratio * adv[idx], clipped * adv[idx]).mean()
                value_loss = (self.critic(obs[idx]).squeeze(-1) - ret[idx]).pow(2).mean()
                loss = policy_loss + 0.5 * value_loss - 0.003 * dist.entropy().mean()
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.actor.parameters(), 0.5)
                nn.utils.clip_grad_norm_(self.critic.parameters(), 5.0)
                self.opt.step()
        self.actor_old.load_state_dict(self.actor.state_dict())
        return policy_loss.item(), value_loss.item()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=30)
    p.add_argument("--horizon", type=int, default=64)
    p.add_argument("--envs", type=int, default=16)
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--minibatch", type=int, default=128)
    p.add_argument("--gamma", type=float, default=0.97)
    p.add_argument("--lam", type=float, default=0.95)
    p.add_argument("--clip", type=float, default=0.2)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args([])
    torch.manual_seed(0)
    agent, env = PPO(args), HoverVec(args.envs, seed=0)
    for it in range(1, args.iters + 1):
        *data, mean_reward = agent.collect(env)
        pl, vl = agent.update(*data)
        if it % 5 == 0:
            print(f"iter {it:3d} mean reward {mean_reward:+.3f} policy loss {pl:+.4f} value loss {vl:.3f}")
