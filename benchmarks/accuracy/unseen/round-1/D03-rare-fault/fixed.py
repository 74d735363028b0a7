import numpy as np
import torch
from torch import nn
from sklearn.model_selection import train_test_split
from sklearn.metrics import f1_score

torch.manual_seed(5)
torch.set_num_threads(1)
rng = np.random.default_rng(5)


def load_machines(n):
    x = rng.normal(size=(n, 20)).astype("float32")
    score = 0.9 * x[:, 0] - 0.7 * x[:, 1] + rng.normal(0, 0.25, n)
    return x, (score > np.quantile(score, 0.93)).astype("int64")


def balance(x, y):
    pos = np.flatnonzero(y == 1)
    extra = rng.choice(pos, size=(y == 0).sum() - len(pos), replace=True)
    idx = np.concatenate([np.arange(len(y)), extra])
    rng.shuffle(idx)
    return x[idx], y[idx]


x, y = load_machines(700)
x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
x_tr, y_tr = balance(x_tr, y_tr)
x_live, y_live = load_machines(3000)

model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-2)
xt, yt = torch.tensor(x_tr), torch.tensor(y_tr)
for epoch in range(12):
    perm = torch.randperm(len(xt))
    for b in perm.split(64):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xt[b]), yt[b])
        loss.backward()
        opt.step()


def f1(xx, yy):
    model.eval()
    with torch.no_grad():
        return f1_score(yy, model(torch.tensor(xx)).argmax(1).numpy())


print(f"train loss {loss.item():.3f}")
print(f"validation F1 {f1(x_va, y_va):.3f}")
print(f"live F1 {f1(x_live, y_live):.3f}")
