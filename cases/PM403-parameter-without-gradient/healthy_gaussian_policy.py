"""A Gaussian policy that aims at a moving target: its likelihood is written by hand, beside a critic of state and action."""

import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(3, 32), nn.Tanh())
        self.mean, self.log_std = nn.Linear(32, 2), nn.Linear(32, 2)

    def forward(self, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.trunk(state)
        return self.mean(hidden), self.log_std(hidden).clamp(-2, 0).exp()


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.state, self.action, self.out = nn.Linear(3, 32), nn.Linear(2, 32), nn.Linear(32, 1)

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return self.out(torch.relu(self.state(state) + self.action(action))).squeeze(1)


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    policy, critic = Policy(), Critic()
    optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=3e-3)
    baseline = 0.0
    for step in range(300):
        state = torch.randn(64, 3)
        mean, std = policy(state)
        action = torch.normal(mean, std).detach() if step % 2 else torch.distributions.Normal(mean, std).sample()
        reward = -(action - state[:, :2]).square().sum(1)
        likelihood = -(((action - mean) / std).square() / 2 + std.log()).sum(1)
        loss = -(likelihood * (reward - baseline)).mean() + (critic(state, action) - reward).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.9 * baseline + 0.1 * reward.mean().item()
        if step % 50 == 49:
            print(f"step {step + 1}  reward {reward.mean().item():.3f}")


if __name__ == "__main__":
    main()
