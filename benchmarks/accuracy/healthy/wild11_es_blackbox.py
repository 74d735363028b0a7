"""OpenAI-style evolution strategies: no backward anywhere, the gradient estimate is written into .grad and Adam ascends it."""
import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.set_num_threads(1)
torch.manual_seed(0)


class Cartpole:
    """batched cart-pole, simple Euler integration; population x episodes run side by side"""

    def __init__(self, n):
        self.s = (torch.rand(n, 4) - 0.5) * 0.1
        self.alive = torch.ones(n, dtype=torch.bool)

    def step(self, force):
        x, xd, th, thd = self.s.unbind(1)
        tmp = (force + 0.05 * thd ** 2 * th.sin()) / 1.1
        tha = (9.8 * th.sin() - th.cos() * tmp) / (0.5 * (4.0 / 3.0 - 0.1 * th.cos() ** 2 / 1.1))
        xa = tmp - 0.05 * tha * th.cos() / 1.1
        self.s = torch.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        self.alive &= (self.s[:, 0].abs() < 2.4) & (self.s[:, 2].abs() < 0.21)
        return self.alive.float()


policy = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(policy.parameters(), lr=0.05)
POP, SIGMA, T = 48, 0.2, 200


@torch.no_grad()
def returns(thetas, episodes):
    n = len(thetas)
    w1, b1, w2, b2 = thetas.split([32, 8, 8, 1], 1)
    env = Cartpole(n * episodes)
    total = torch.zeros(n * episodes)
    for _ in range(T):
        s = env.s.view(n, episodes, 4)
        h = torch.tanh(torch.einsum("nek,nhk->neh", s, w1.view(n, 8, 4)) + b1[:, None])
        a = torch.einsum("neh,nh->ne", h, w2) + b2
        total += env.step(10.0 * torch.tanh(a).reshape(-1))
    return total.view(n, episodes).mean(1)


for gen in range(1, 31):
    theta = parameters_to_vector(policy.parameters()).detach()
    noise = torch.randn(POP // 2, theta.numel())
    noise = torch.cat([noise, -noise])
    R = returns(theta + SIGMA * noise, 4)
    rank = R.argsort().argsort().float() / (POP - 1) - 0.5
    g = (rank[:, None] * noise).mean(0) / SIGMA
    opt.zero_grad()
    k = 0
    for p in policy.parameters():
        p.grad = -g[k:k + p.numel()].view_as(p).clone()
        k += p.numel()
    opt.step()
    if gen % 5 == 0:
        mean = returns(parameters_to_vector(policy.parameters()).detach()[None], 20).item()
        print(f"generation {gen} population return {R.mean():.1f} best {R.max():.1f} | policy return {mean:.1f} loss {-R.mean():.1f}")
