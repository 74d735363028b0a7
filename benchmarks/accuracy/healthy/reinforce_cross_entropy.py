"""REINFORCE with F.cross_entropy as the log-probability and a running baseline (contextual bandit)."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


class Bandit:
    def __init__(self, contexts=6, arms=4, generator=None):
        self.best = torch.randint(arms, (contexts,), generator=generator)
        self.contexts, self.generator = contexts, generator

    def sample(self, n):
        return torch.randint(self.contexts, (n,), generator=self.generator)

    def reward(self, context, action):
        hit = (self.best[context] == action).float()
        return hit + 0.3 * torch.randn(len(context), generator=self.generator)


def main():
    torch.manual_seed(3)
    bandit = Bandit(generator=torch.Generator().manual_seed(3))
    policy = nn.Sequential(nn.Embedding(6, 16), nn.Tanh(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline, history = 0.0, []
    for step in range(400):
        context = bandit.sample(64)
        logits = policy(context)
        action = torch.distributions.Categorical(logits=logits.detach()).sample()
        reward = bandit.reward(context, action)
        history.append(reward.mean().item())
        advantage = reward - baseline
        baseline = 0.95 * baseline + 0.05 * reward.mean().item()
        loss = (F.cross_entropy(logits, action, reduction="none") * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(step, loss.item(), sum(history[-20:]) / len(history[-20:]))
    with torch.no_grad():
        greedy = policy(torch.arange(6)).argmax(1)
    print("greedy is best in", (greedy == bandit.best).float().mean().item())
    assert sum(history[-40:]) / 40 > 0.8


if __name__ == "__main__":
    main()
