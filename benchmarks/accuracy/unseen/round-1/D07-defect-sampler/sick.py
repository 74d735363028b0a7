import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader, WeightedRandomSampler

torch.manual_seed(0)
torch.set_num_threads(1)


def make_split(n, share):
    y = (torch.rand(n) < share).long()
    x = torch.randn(n, 16)
    x[:, :4] += y[:, None] * 1.3
    x[:, 4] *= 1 + y
    return TensorDataset(x, y)


train_ds = make_split(1500, 0.08)
val_ds = make_split(600, 0.5)
labels = train_ds.tensors[1]
counts = torch.bincount(labels, minlength=2)
class_weight = 1.0 / counts.float()
print("class counts", counts.tolist())
sampler = WeightedRandomSampler(class_weight, num_samples=len(train_ds), replacement=True)  # <- PM316
train_dl = DataLoader(train_ds, batch_size=50, sampler=sampler)
val_dl = DataLoader(val_ds, batch_size=200)

model = nn.Sequential(nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
lossfn = nn.CrossEntropyLoss()


def run_epoch(loader, train):
    model.train(train)
    tot, ok, n = 0.0, 0, 0
    with torch.set_grad_enabled(train):
        for xb, yb in loader:
            out = model(xb)
            loss = lossfn(out, yb)
            if train:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            tot += loss.item() * len(yb)
            ok += (out.argmax(1) == yb).sum().item()
            n += len(yb)
    return tot / n, ok / n


for e in range(10):
    tl, ta = run_epoch(train_dl, True)
    vl, va = run_epoch(val_dl, False)
    print(f"{e}: train {tl:.3f}/{ta:.3f}  val {vl:.3f}/{va:.3f}")
