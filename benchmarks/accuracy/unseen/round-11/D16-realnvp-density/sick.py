import torch
import torch.nn as nn
from sklearn.datasets import make_swiss_roll

torch.set_num_threads(1)
torch.manual_seed(0)


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip, self.half = flip, dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(),
                                 nn.Linear(hidden, 2 * (dim - self.half)))

    def forward(self, x):
        a, b = x[:, :self.half], x[:, self.half:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 2.0 * torch.tanh(s / 2.0)
        b = b * torch.exp(s) + t
        out = torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1)
        return out, s.sum(1)


class AffineConst(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.log_s = nn.Parameter(torch.zeros(dim))
        self.t = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * self.log_s.exp() + self.t, self.log_s.sum().expand(len(x))


class RealNVP(nn.Module):
    def __init__(self, dim=2, n_layers=6, hidden=48):
        super().__init__()
        self.first = AffineConst(dim)
        self.last = AffineConst(dim)
        couplings = [Coupling(dim, hidden, flip=i % 2 == 1) for i in range(n_layers)]
        self.flows = couplings
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        z, logdet = self.first(x)
        for f in self.flows:
            z, ld = f(z)
            logdet = logdet + ld
        z, ld = self.last(z)
        return self.base.log_prob(z).sum(1) + logdet + ld


def load(n, seed):
    x = make_swiss_roll(n, noise=0.4, random_state=seed)[0][:, [0, 2]] / 7.0
    return torch.tensor(x, dtype=torch.float32)


train, held = load(4000, 0), load(1000, 1)
flow = RealNVP()
optim = torch.optim.Adam(flow.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=700)

for it in range(1, 701):
    batch = train[torch.randint(0, len(train), (256,))]
    nll = -flow.log_prob(batch).mean()
    optim.zero_grad()
    nll.backward()
    torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    optim.step()
    sched.step()
    if it % 100 == 0:
        with torch.no_grad():
            print(f"it {it} train nll {nll.item():.4f} held-out nll {-flow.log_prob(held).mean().item():.4f}")
