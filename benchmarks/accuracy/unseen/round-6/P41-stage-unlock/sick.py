import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(31)
torch.set_num_threads(1)

digits = load_digits()
X = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
y = torch.tensor(digits.target)


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.classifier = nn.Linear(64, n_out)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


def epoch_over(model, opt, xs, ys):
    model.train()
    for b in torch.randperm(len(ys)).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(model(xs[b]), ys[b])
        loss.backward()
        opt.step()
    return loss.item()


# source task: two digits only
src = y < 2
base = Net(2)
opt = torch.optim.Adam(base.parameters(), lr=2e-3)
for _ in range(4):
    epoch_over(base, opt, X[src], y[src])

# target task: all ten digits
model = copy.deepcopy(base)
model.classifier = nn.Linear(64, 10)
for p in model.features.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
train, val = torch.arange(0, 1200), torch.arange(1200, len(y))
for epoch in range(16):
    if epoch == 4:
        for p in model.features.parameters():
            p.requires_grad == True  # <- PM404
        print("all layers are trained from here")
    loss = epoch_over(model, opt, X[train], y[train])
    model.eval()
    with torch.no_grad():
        acc = (model(X[val]).argmax(1) == y[val]).float().mean()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1}: loss {loss:.3f}, validation accuracy {acc:.3f}")
