"""The forward-forward algorithm: every layer has its own goal and optimizer; no gradient passes between layers."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Layer(nn.Module):
    def __init__(self, d_in, d_out, threshold=2.0):
        super().__init__()
        self.linear, self.threshold = nn.Linear(d_in, d_out), threshold
        self.optimizer = torch.optim.Adam(self.linear.parameters(), lr=1e-2)

    def forward(self, x):
        return torch.relu(self.linear(F.normalize(x, dim=1) * x.shape[1] ** 0.5 / 3))

    def learn(self, good, bad):
        g_good, g_bad = (self(x).pow(2).mean(1) for x in (good, bad))
        loss = (F.softplus(self.threshold - g_good) + F.softplus(g_bad - self.threshold)).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            return self(good), self(bad), loss.item()


def with_label(x, y):
    return torch.cat([2.5 * F.one_hot(y, 10).float(), x], dim=1)


@torch.no_grad()
def predict(layers, x):
    goodness = []
    for c in range(10):
        h, total = with_label(x, torch.full((len(x),), c)), 0.0
        for layer in layers:
            h = layer(h)
            total = total + h.pow(2).mean(1)
        goodness.append(total)
    return torch.stack(goodness, 1).argmax(1)


torch.manual_seed(15)
torch.set_num_threads(1)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
order = torch.randperm(len(x))
train, test = order[:1300], order[1300:]
layers = nn.ModuleList([Layer(74, 160), Layer(160, 160)])
print(f"accuracy before {(predict(layers, x[test]) == y[test]).float().mean():.3f}")
for epoch in range(1, 31):
    for rows in train[torch.randperm(len(train))].split(100):
        wrong = (y[rows] + torch.randint(1, 10, (len(rows),))) % 10
        good, bad = with_label(x[rows], y[rows]), with_label(x[rows], wrong)
        losses = []
        for layer in layers:
            good, bad, loss = layer.learn(good, bad)
            losses.append(loss)
    if epoch % 6 == 0:
        right = (predict(layers, x[test]) == y[test]).float().mean()
        print(f"epoch {epoch} losses {losses[0]:.3f} {losses[1]:.3f} accuracy {right:.3f}")
