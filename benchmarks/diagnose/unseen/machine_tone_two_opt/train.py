import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(31)
torch.set_num_threads(1)
g = np.random.default_rng(31)

CLASSES, T = 5, 128


def tone(n):
    y = g.integers(0, CLASSES, n)
    t = np.arange(T) / T
    f = 4 + 3 * y[:, None] + g.normal(0, 0.5, (n, 1))
    x = np.sin(2 * np.pi * (f * t + g.random((n, 1)))) + 0.5 * np.sin(4 * np.pi * f * t) + g.normal(0, 0.6, (n, T))
    return torch.tensor(x, dtype=torch.float32).unsqueeze(1), torch.tensor(y)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [1, 16, 32, 32]
        self.stages = nn.ModuleList([
            nn.Sequential(nn.Conv1d(a, b, 7, stride=2, padding=3), nn.ReLU())
            for a, b in zip(chans[:-1], chans[1:])])

    def forward(self, x):
        for s in self.stages:
            x = s(x)
        return x.mean(-1)


backbone, classifier = Backbone(), nn.Linear(32, CLASSES)
xtr, ytr = tone(2000)
xva, yva = tone(400)

opt_backbone = torch.optim.SGD(backbone.parameters(), lr=0.2, momentum=0.999)
opt_classifier = torch.optim.SGD(classifier.parameters(), lr=0.2, momentum=0.999)
ce = nn.CrossEntropyLoss()

for epoch in range(12):
    backbone.train()
    losses = []
    for b in torch.randperm(len(xtr)).split(50):
        loss = ce(classifier(backbone(xtr[b])), ytr[b])
        opt_backbone.zero_grad()
        opt_classifier.zero_grad()
        loss.backward()
        opt_backbone.step()
        opt_classifier.step()
        losses.append(loss.item())
    backbone.eval()
    with torch.no_grad():
        acc = (classifier(backbone(xva)).argmax(1) == yva).float().mean().item()
    print(f"epoch={epoch} loss={np.mean(losses):.4f} val_acc={acc:.3f}")
