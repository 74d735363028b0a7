import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
torch.set_num_threads(1)

X, y = load_wine(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y)
tr, te = train_test_split(range(len(X)), test_size=0.3, random_state=4, stratify=y)

mu, sd = X[tr].mean(0), X[tr].std(0)
X_train = (X[tr] - mu) / sd
X_val = (X[te] - mu) / sd

train_dl = DataLoader(TensorDataset(X_train, y[tr]), batch_size=16, shuffle=True)
val_dl = DataLoader(TensorDataset(X_val, y[te]), batch_size=32)

net = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
opt = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
ce = nn.CrossEntropyLoss()

for epoch in range(60):
    net.train()
    running = 0.0
    for xb, yb in train_dl:
        opt.zero_grad()
        loss = ce(net(xb), yb)
        loss.backward()
        opt.step()
        running += loss.item() * len(xb)
    net.eval()
    hits, total, vloss = 0, 0, 0.0
    with torch.no_grad():
        for xb, yb in val_dl:
            out = net(xb)
            hits += (out.argmax(1) == yb).sum().item()
            vloss += ce(out, yb).item() * len(xb)
            total += len(yb)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1:3d}  train {running / len(tr):.4f}  val {vloss / total:.4f}  val acc {hits / total:.3f}")
