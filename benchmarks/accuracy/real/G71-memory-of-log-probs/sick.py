"""REINFORCE with a memory of past decisions for an importance diagnostic."""
import torch
from torch import nn
from torch.distributions import Categorical


class Memory:
    def __init__(self):
        self.log_probs, self.rewards = [], []

    def add(self, log_prob, reward):
        self.log_probs.append(log_prob)  # <- PM703
        self.rewards.append(reward.item())

    def mean_log_prob(self):
        return sum(lp.item() for lp in self.log_probs[-20:]) / 20


class Policy(nn.Module):
    def __init__(self, n_in=6, actions=4):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_in, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, actions))

    def forward(self, context):
        return Categorical(logits=self.net(context))


def main():
    torch.manual_seed(0)
    best = torch.randn(6, 4)
    policy, memory = Policy(), Memory()
    optimizer = torch.optim.Adam(policy.parameters(), lr=2e-3)
    baseline = 0.0
    for step in range(600):
        context = torch.randn(32, 6)
        dist = policy(context)
        action = dist.sample()
        reward = ((context @ best).argmax(1) == action).float()
        log_prob = dist.log_prob(action)
        loss = -(log_prob * (reward - baseline)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.95 * baseline + 0.05 * reward.mean().item()
        memory.add(log_prob.mean(), reward.mean())
        if step % 100 == 99:
            print(step, f"reward {sum(memory.rewards[-100:]) / 100:.3f}", f"mean log prob {memory.mean_log_prob():.3f}")


main()
