"""PPO: clipped surrogate, F.mse_loss for the value, entropy bonus, several epochs of minibatches, one backward()."""

from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn import functional as F


@dataclass
class Args:
    envs: int = 16
    horizon: int = 24
    iterations: int = 30
    epochs: int = 3
    minibatches: int = 2
    clip: float = 0.2
    gamma: float = 0.95
    lam: float = 0.9
    lr: float = 3e-3


class Targets:
    """A vector of points that must be steered to the origin; reward is how close it stays."""

    def __init__(self, n):
        self.n = n
        self.p = 4 * torch.rand(n, 2) - 2

    def observe(self):
        return self.p.clone()

    def step(self, action):
        delta = 0.3 * torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1], [0, 0]])
        self.p = (self.p + delta[action]).clamp(-2.5, 2.5)
        reward = (2 - self.p.norm(dim=1)) / 2
        done = torch.rand(self.n) < 0.05
        self.p[done] = 4 * torch.rand(int(done.sum()), 2) - 2
        return reward, done.float()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, 5), nn.Linear(64, 1)

    def forward(self, x):
        h = self.body(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


def collect(env, model, args):
    rows = []
    with torch.no_grad():
        for _ in range(args.horizon):
            obs = env.observe()
            policy, value = model(obs)
            action = policy.sample()
            reward, done = env.step(action)
            rows.append((obs, action, policy.log_prob(action), value, reward, done))
        _, last = model(env.observe())
    obs, action, logp, value, reward, done = (torch.stack(x) for x in zip(*rows))
    advantage, gae = torch.zeros_like(reward), torch.zeros(args.envs)
    for t in reversed(range(args.horizon)):
        following = last if t == args.horizon - 1 else value[t + 1]
        delta = reward[t] + args.gamma * following * (1 - done[t]) - value[t]
        gae = delta + args.gamma * args.lam * (1 - done[t]) * gae
        advantage[t] = gae
    flat = [x.flatten(0, 1) for x in (obs, action, logp, advantage, advantage + value)]
    return flat, reward.mean().item()


torch.set_num_threads(1)
torch.manual_seed(0)
args, model = Args(), ActorCritic()
env = Targets(args.envs)
optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, eps=1e-5)
rewards = []
for iteration in range(args.iterations):
    (obs, action, old_logp, advantage, returns), reward = collect(env, model, args)
    rewards.append(reward)
    for epoch in range(args.epochs):
        for rows in torch.randperm(len(obs)).chunk(args.minibatches):
            policy, value = model(obs[rows])
            adv = (advantage[rows] - advantage[rows].mean()) / (advantage[rows].std() + 1e-8)
            ratio = (policy.log_prob(action[rows]) - old_logp[rows]).exp()
            surrogate = torch.min(ratio * adv, ratio.clamp(1 - args.clip, 1 + args.clip) * adv).mean()
            value_loss = F.mse_loss(value, returns[rows])
            loss = -surrogate + 0.5 * value_loss - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
    if iteration % 5 == 0:
        print(iteration, reward, loss.item(), value_loss.item())
print("first", sum(rewards[:5]) / 5, "last", sum(rewards[-5:]) / 5)
assert sum(rewards[-5:]) / 5 > sum(rewards[:5]) / 5 + 0.2
