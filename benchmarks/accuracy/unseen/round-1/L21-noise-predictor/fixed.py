import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
STEPS = 50
beta = torch.linspace(1e-3, 0.15, STEPS)
alpha_bar = torch.cumprod(1 - beta, 0)


def moons(n):
    t = torch.rand(n) * 3.1416
    up = torch.rand(n) < 0.5
    x = torch.where(up, torch.cos(t), 1 - torch.cos(t))
    y = torch.where(up, torch.sin(t), 0.5 - torch.sin(t))
    return torch.stack([x - 0.5, y - 0.25], 1) * 1.4 + 0.03 * torch.randn(n, 2)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(STEPS, 32)
        self.inp = nn.Linear(2, 64)
        self.net = nn.Sequential(nn.Linear(96, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 2))

    def forward(self, x, t):
        return self.net(torch.cat([self.inp(x), self.time(t)], 1))


def q_sample(x0, t, noise=None):
    if noise is None:
        noise = torch.randn_like(x0)
    ab = alpha_bar[t][:, None]
    return ab.sqrt() * x0 + (1 - ab).sqrt() * noise


model = Denoiser()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
data = moons(4000)
for step in range(800):
    x0 = data[torch.randint(0, 4000, (128,))]
    t = torch.randint(0, STEPS, (128,))
    noise = torch.randn_like(x0)
    pred = model(q_sample(x0, t, noise), t)
    loss = (pred - noise).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 200 == 199:
        print("step", step + 1, "loss %.3f" % loss.item())

with torch.no_grad():
    x = torch.randn(800, 2)
    for i in reversed(range(STEPS)):
        t = torch.full((800,), i)
        e = model(x, t)
        x = (x - beta[i] / (1 - alpha_bar[i]).sqrt() * e) / (1 - beta[i]).sqrt()
        if i:
            x = x + beta[i].sqrt() * torch.randn_like(x)
    ref = moons(2000)
    print("mean distance of samples to the data %.3f" % torch.cdist(x, ref).min(1).values.mean().item())
