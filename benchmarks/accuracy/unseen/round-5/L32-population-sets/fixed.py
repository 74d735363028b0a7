# Regress a statistic of a population from an unordered sample of it.
import numpy as np
import torch
from torch import nn, optim

np.random.seed(11)
torch.manual_seed(11)
torch.set_num_threads(1)


def populations(count, members=40):
    spread = np.random.uniform(-1.5, 1.5, count)
    centre = np.random.uniform(-2, 2, (count, 1))
    draws = centre + np.exp(spread)[:, None] * np.random.randn(count, members)
    return draws[:, :, None].astype(np.float32), spread.astype(np.float32)


class DeepSet(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.feature_extractor = nn.Sequential(nn.Linear(1, width), nn.ELU(), nn.Linear(width, width), nn.ELU())
        self.regressor = nn.Sequential(nn.Linear(width, width), nn.ELU(), nn.Linear(width, 1))

    def forward(self, s):
        return self.regressor(self.feature_extractor(s).mean(dim=1))


X_train, y_train = populations(4096)
X_val, y_val = populations(1024)
model = DeepSet()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
order = np.arange(len(X_train))
for epoch in range(14):
    np.random.shuffle(order)
    running = []
    for start in range(0, len(order), 128):
        pick = order[start:start + 128]
        x, y = torch.from_numpy(X_train[pick]), torch.from_numpy(y_train[pick])
        optimizer.zero_grad()
        y_pred = model(x)
        loss = ((y_pred - y[:, None]) ** 2).mean()
        loss.backward()
        optimizer.step()
        running.append(loss.item())
    print("epoch %2d   train mse %.4f" % (epoch, np.mean(running)))

with torch.no_grad():
    guess = model(torch.from_numpy(X_val)).numpy().ravel()
print("validation mse %.4f   variance of the statistic %.4f" % (np.mean((guess - y_val) ** 2), y_val.var()))
