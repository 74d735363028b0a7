import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(2)
torch.set_num_threads(1)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.tensor(-0.3))

    def forward(self, s):
        return Normal(self.net(s).squeeze(-1), self.log_std.exp())


critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
actor = Actor()
opt = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=5e-3)
plan = torch.tensor([0.8, -0.5, 0.4])


def rollout(n):
    s = torch.randn(n, 3)
    wanted = torch.tanh(s @ plan) * 1.5
    dist = actor(s)
    a = dist.sample()
    reward = 10 - (a - wanted) ** 2 + 3 * s[:, 2]
    return s, dist, a, reward, wanted


for it in range(400):
    s, dist, a, reward, wanted = rollout(64)
    value = critic(s).squeeze(-1)
    advantage = reward - value
    actor_loss = -(dist.log_prob(a) * advantage).mean()  # <- PM517
    critic_loss = advantage.pow(2).mean()
    loss = actor_loss + 0.05 * critic_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 100 == 99:
        with torch.no_grad():
            err = (actor(s).mean - wanted).pow(2).mean().item()
        print(f"it {it + 1} reward {reward.mean().item():.3f} control error {err:.3f} critic mse {critic_loss.item():.2f}")
