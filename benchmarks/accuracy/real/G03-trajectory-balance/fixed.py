"""GFlowNet with trajectory balance on a small hyper-grid (binary strings with a reward)."""
import math

import torch
from torch import nn
from torch.distributions import Bernoulli

torch.set_num_threads(1)
LENGTH = 6


def log_reward(strings: torch.Tensor) -> torch.Tensor:
    ones = strings.sum(1)
    return torch.where(ones >= 4, math.log(4.0), math.log(0.25))


class GFlowNetAgent:
    def __init__(self, lr=1e-2, lr_z=1e-1):
        self.policy = nn.Sequential(nn.Linear(2 * LENGTH, 64), nn.LeakyReLU(), nn.Linear(64, 1))
        self.logZ = nn.Parameter(torch.zeros(1))
        self.opt = torch.optim.Adam(
            [{"params": self.policy.parameters(), "lr": lr}, {"params": [self.logZ], "lr": lr_z}]
        )

    def get_logprobs(self, policy_outputs, actions):
        logits = policy_outputs.clone()
        return Bernoulli(logits=logits).log_prob(actions)

    def sample(self, n):
        state = torch.zeros(n, 2 * LENGTH)
        strings = torch.zeros(n, LENGTH)
        logp = torch.zeros(n)
        for t in range(LENGTH):
            outputs = self.policy(state).squeeze(-1)
            with torch.no_grad():
                action = Bernoulli(logits=outputs).sample()
            logp = logp + self.get_logprobs(outputs, action)
            strings[:, t] = action
            state = state.clone()
            state[:, t] = action
            state[:, LENGTH + t] = 1.0
        return strings, logp

    def trajectory_balance_loss(self, n=64):
        strings, logp = self.sample(n)
        return (self.logZ + logp - log_reward(strings)).pow(2).mean(), strings


if __name__ == "__main__":
    torch.manual_seed(0)
    agent = GFlowNetAgent()
    for it in range(200):
        loss, strings = agent.trajectory_balance_loss()
        agent.opt.zero_grad()
        loss.backward()
        agent.opt.step()
        if it % 25 == 0:
            good = (strings.sum(1) >= 4).float().mean().item()
            print(f"iter {it:3d} loss {loss.item():.4f} logZ {agent.logZ.item():.3f} share of good strings {good:.2f}")
