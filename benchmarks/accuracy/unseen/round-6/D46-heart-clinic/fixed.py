import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)
rng = np.random.default_rng(2)

raw = load_breast_cancer()
X = raw.data.astype(np.float64)
X = X + rng.normal(size=X.shape) * X.std(0) * 0.5
missing = rng.random(X.shape) < 0.04
X[missing] = -9999.0

X_tr, X_te, y_tr, y_te = train_test_split(X, raw.target, test_size=0.3, random_state=0, stratify=raw.target)

X_tr = np.where(X_tr == -9999.0, np.nan, X_tr)
X_te = np.where(X_te == -9999.0, np.nan, X_te)
fill = np.nanmedian(X_tr, axis=0)
X_tr = np.where(np.isnan(X_tr), fill, X_tr)
X_te = np.where(np.isnan(X_te), fill, X_te)
scaler = MinMaxScaler().fit(X_tr)
X_tr, X_te = (torch.tensor(scaler.transform(a), dtype=torch.float32) for a in (X_tr, X_te))
y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)


class Mlp(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.a = nn.Linear(d, 48)
        self.b = nn.Linear(48, 2)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


model = Mlp(X_tr.shape[1])
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(60):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(16):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(X_tr[idx]), y_tr[idx])
        loss.backward()
        opt.step()
    if epoch % 15 == 14:
        model.eval()
        with torch.no_grad():
            tr = (model(X_tr).argmax(1) == y_tr).float().mean()
            te = (model(X_te).argmax(1) == y_te).float().mean()
        print(f"[{epoch + 1:02d}] train {tr:.3f}  test {te:.3f}")
