import copy
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class WeightEMA:
    def __init__(self, model, decay=0.97):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()
        self.shadow.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):  # <- PM418
            if s.is_floating_point():
                s.lerp_(p, 1 - self.decay)
        return self.shadow


def spectra(n):
    y = torch.randint(0, 5, (n,))
    grid = torch.arange(40.0)
    x = 6 + 3 * torch.exp(-((grid - 6 - 7 * y[:, None]) ** 2) / 6) + torch.randn(n, 40)
    return x, y


model = nn.Sequential(
    nn.Linear(40, 64), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
    nn.Linear(64, 5),
)
ema = WeightEMA(model)
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
x, y = spectra(1500)
xv, yv = spectra(400)
for epoch in range(8):
    model.train()
    for b in torch.randperm(1500).split(50):
        loss = nn.functional.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        averaged = ema.update(model)
    model.eval()
    with torch.no_grad():
        raw = (model(xv).argmax(1) == yv).float().mean().item()
        avg = (averaged(xv).argmax(1) == yv).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} val raw {raw:.3f} val ema {avg:.3f}")
