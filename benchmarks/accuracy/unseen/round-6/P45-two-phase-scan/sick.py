import torch
import torch.nn as nn
import torch.nn.functional as F


class ScanModel(nn.Module):
    def __init__(self, backbone, n_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, n_classes))

    def forward(self, x):
        with torch.no_grad():  # <- PM404
            feats = self.backbone(x)
        return self.head(feats)


def make_backbone():
    return nn.Sequential(nn.Linear(40, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU())


def scans(n, seed, task):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 40, generator=g)
    if task == "source":
        y = (x[:, :5].sum(1) > 0).long() + 2 * (x[:, 5:10].sum(1) > 0).long()
    else:
        y = (x[:, 0] * x[:, 20] > 0).long() + 2 * (x[:, 21:26].sum(1) > 0).long()
    return x, y


class FineTuner:
    def __init__(self, model, data, val):
        self.model, self.data, self.val = model, data, val

    def _run(self, params, lr, epochs, label):
        opt = torch.optim.Adam(params, lr=lr)
        x, y = self.data
        for e in range(epochs):
            self.model.train()
            for b in torch.randperm(len(y)).split(40):
                opt.zero_grad()
                loss = F.cross_entropy(self.model(x[b]), y[b])
                loss.backward()
                opt.step()
            if e % 5 == 4:
                print(f"{label} epoch {e + 1}: loss {loss.item():.3f} validation accuracy {self.accuracy():.3f}")

    def accuracy(self):
        self.model.eval()
        with torch.no_grad():
            return (self.model(self.val[0]).argmax(1) == self.val[1]).float().mean().item()

    def phase_one(self):
        self.model.backbone.requires_grad_(False)
        self._run(self.model.head.parameters(), 2e-3, 5, "head")

    def phase_two(self):
        self.model.backbone.requires_grad_(True)
        self._run(self.model.parameters(), 1e-3, 20, "full")


torch.manual_seed(0)
torch.set_num_threads(1)
backbone = make_backbone()
source = nn.Sequential(backbone, nn.Linear(24, 4))
opt = torch.optim.Adam(source.parameters(), lr=2e-3)
xs, ys = scans(2000, 1, "source")
for _ in range(8):
    for b in torch.randperm(len(ys)).split(40):
        opt.zero_grad()
        F.cross_entropy(source(xs[b]), ys[b]).backward()
        opt.step()
tuner = FineTuner(ScanModel(backbone, 4), scans(3000, 2, "target"), scans(800, 3, "target"))
tuner.phase_one()
tuner.phase_two()
