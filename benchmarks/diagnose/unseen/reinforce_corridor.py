"""REINFORCE on a corridor: start in the middle, the reward is at the right end."""
import random

import torch
from torch import nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=9):
        self.length = length

    def reset(self):
        self.at, self.t = self.length // 2, 0
        return self.observe()

    def observe(self):
        x = torch.zeros(self.length)
        x[self.at] = 1.0
        return x

    def step(self, action):
        self.at += 1 if action == 1 else -1
        self.t += 1
        done = self.at in (0, self.length - 1) or self.t >= 20
        reward = 1.0 if self.at == self.length - 1 else -0.02
        return self.observe(), reward, done


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, x):
        return Categorical(logits=self.net(x))


def discounted(rewards, gamma=0.97):
    out, g = [], 0.0
    for r in reversed(rewards):
        g = r + gamma * g
        out.insert(0, g)
    return torch.tensor(out)


def main():
    torch.manual_seed(0)
    random.seed(0)
    env, policy = Corridor(), Policy(9)
    opt = torch.optim.Adam(policy.parameters(), lr=5e-3)
    recent = []
    for update in range(120):
        logps, returns = [], []
        for _ in range(4):
            obs, done, rewards = env.reset(), False, []
            while not done:
                dist = policy(obs)
                action = dist.sample()
                logps.append(dist.log_prob(action))
                obs, reward, done = env.step(action.item())
                rewards.append(reward)
            returns.append(discounted(rewards))
            recent.append(sum(rewards))
        advantage = torch.cat(returns)
        advantage = advantage - advantage.mean()
        loss = (torch.stack(logps) * advantage).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if update % 20 == 0:
            print(update, "return", sum(recent[-40:]) / len(recent[-40:]))
    print("final return", sum(recent[-80:]) / 80)


main()
