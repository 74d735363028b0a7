"""A bandit with contexts, learnt with clipped policy updates."""

import torch
from torch import nn
from torch.distributions import Categorical


def main() -> None:
    torch.manual_seed(0)
    policy = nn.Sequential(nn.Linear(5, 24), nn.Tanh(), nn.Linear(24, 5))
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    for step in range(30):
        context = torch.randn(128, 5)
        with torch.no_grad():
            old = Categorical(logits=policy(context))
            action = old.sample()
            before = old.log_prob(action)
        reward = (action == context.argmax(1)).float()
        advantage = reward - reward.mean()
        for _ in range(4):
            now = Categorical(logits=policy(context))
            ratio = (now.log_prob(action) - before).exp()
            bounded = ratio.clamp(0.8, 1.2)
            surrogate = torch.minimum(-advantage * ratio, -advantage * bounded)  # <- PM516
            loss = surrogate.mean() - 0.01 * now.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if step % 5 == 0:
            print(f"step {step} reward {reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
