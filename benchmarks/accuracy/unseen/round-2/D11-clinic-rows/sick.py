import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)
np.random.seed(0)


class ClinicRows(Dataset):
    columns = ["age", "bmi", "pulse", "site_code", "glucose"]

    def __init__(self, n, stats=None):
        age = np.random.uniform(20, 90, n)
        bmi = np.random.normal(26, 4, n)
        pulse = np.random.normal(72, 9, n)
        site = np.full(n, 17.0)
        glucose = np.random.normal(100, 20, n)
        risk = 0.04 * (age - 55) + 0.1 * (bmi - 26) + 0.03 * (glucose - 100)
        table = np.stack([age, bmi, pulse, site, glucose], 1)
        if stats is None:
            stats = table.mean(0), table.std(0)
        self.stats = stats
        self.x = ((table - stats[0]) / stats[1]).astype(np.float32)  # <- PM105
        self.y = (risk + np.random.normal(0, 0.4, n) > 0).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


np.seterr(all="ignore")
train = ClinicRows(800)
val = ClinicRows(200, train.stats)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(model.parameters(), 5e-3)
crit = nn.BCEWithLogitsLoss()
for ep in range(8):
    model.train()
    for x, y in DataLoader(train, 40, shuffle=True):
        opt.zero_grad()
        loss = crit(model(x)[:, 0], y)
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        p = model(torch.from_numpy(val.x))[:, 0]
        acc = ((p > 0).float() == torch.from_numpy(val.y)).float().mean()
    print(f"ep {ep} loss {loss.item():.4f} val_acc {acc:.3f}")
