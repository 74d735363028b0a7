import math
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class LoRALinear(nn.Module):
    def __init__(self, base, r=4, alpha=8):
        super().__init__()
        self.base = base
        for p in base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r
        self.reset()

    def reset(self):
        nn.init.zeros_(self.A)  # <- PM211
        nn.init.zeros_(self.B)

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scaling


W = torch.randn(16, 6)


def domain(n, shift):
    x = torch.randn(n, 16)
    return x, (x @ torch.roll(W, shift, 0)).argmax(1)


def epoch(model, opt, x, y):
    for b in torch.randperm(len(x)).split(50):
        loss = nn.functional.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def acc(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 6))
x, y = domain(3000, 0)
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for _ in range(5):
    epoch(model, opt, x, y)
print("source acc %.3f" % acc(model, x, y))

for i in (0, 2):
    model[i] = LoRALinear(model[i])
model[4].requires_grad_(False)
xt, yt = domain(2500, 1)
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for e in range(8):
    l = epoch(model, opt, xt[:2000], yt[:2000])
    print(f"adapt {e} loss {l:.3f} target acc {acc(model, xt[2000:], yt[2000:]):.3f}")
