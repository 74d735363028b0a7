"""Domain-adversarial training: a gradient-reversal autograd Function between the features and the domain head."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def domain(n, shift, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=g)
    y = (x[:, 0] + x[:, 1] > 0).long()
    x[:, 2] = x[:, 2] + (1.5 * (2 * y.float() - 1) if shift == 0 else 0.0)
    x[:, 3:6] += shift
    return x, y


class Dann(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())
        self.label, self.dom = nn.Linear(24, 2), nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))

    def forward(self, x, strength):
        h = self.feat(x)
        return self.label(h), self.dom(Reverse.apply(h, strength))


torch.manual_seed(0)
torch.set_num_threads(1)
xs, ys = domain(1500, 0.0, 1)
xt, yt = domain(1500, 1.0, 2)
model = Dann()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(25):
    strength = 0.3 * (2 / (1 + math.exp(-epoch / 4)) - 1)
    model.train()
    for bs, bt in zip(torch.randperm(1500).split(50), torch.randperm(1500).split(50)):
        ls, ds = model(xs[bs], strength)
        _, dt = model(xt[bt], strength)
        dom_loss = F.cross_entropy(torch.cat([ds, dt]), torch.arange(2).repeat_interleave(50))
        loss = F.cross_entropy(ls, ys[bs]) + dom_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 6 == 0:
        model.eval()
        with torch.no_grad():
            s = (model(xs, 0)[0].argmax(1) == ys).float().mean()
            t = (model(xt, 0)[0].argmax(1) == yt).float().mean()
        print(f"epoch {epoch + 1}: source accuracy {s:.3f} target accuracy {t:.3f} domain loss {dom_loss.item():.3f}")
