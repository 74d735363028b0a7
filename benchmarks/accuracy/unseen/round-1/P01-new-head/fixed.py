import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Backbone(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        return self.fc(self.features(x))


def blobs(n, classes, seed):
    g = torch.Generator().manual_seed(seed)
    mu = torch.randn(classes, 30, generator=g)
    y = torch.randint(0, classes, (n,))
    return mu[y] + 1.2 * torch.randn(n, 30), y


def fit(model, opt, x, y, epochs):
    for _ in range(epochs):
        for b in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x[b]), y[b])
            loss.backward()
            opt.step()
    return loss.item()


@torch.no_grad()
def score(model, x, y):
    return (model(x).argmax(1) == y).float().mean().item()


model = Backbone(20)
x, y = blobs(1500, 20, 1)
fit(model, torch.optim.Adam(model.parameters(), lr=2e-3), x, y, 5)
print("pretraining acc", round(score(model, x, y), 3))

for p in model.features.parameters():
    p.requires_grad_(False)
model.fc = nn.Linear(32, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
xt, yt = blobs(900, 6, 2)
for r in range(4):
    l = fit(model, optimizer, xt[:600], yt[:600], 3)
    print("round", r, "loss %.3f" % l, "val acc %.3f" % score(model, xt[600:], yt[600:]))
