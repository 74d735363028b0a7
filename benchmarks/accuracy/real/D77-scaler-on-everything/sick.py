# %% load
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
n = 700
frame = pd.DataFrame({
    "income": rng.lognormal(10, 0.6, n),
    "age": rng.integers(18, 80, n),
    "debt": rng.gamma(2.0, 3000.0, n),
    "years": rng.integers(0, 40, n),
    "score": rng.normal(600, 80, n),
})
risk = 0.00004 * frame["debt"] - 0.004 * (frame["score"] - 600) - 0.02 * frame["years"] + rng.normal(0, 0.4, n)
frame["default"] = (risk > risk.median()).astype(int)

# %% prepare
X = frame.drop(columns="default").to_numpy(dtype=np.float32)
y = frame["default"].to_numpy(dtype=np.int64)
scaler = StandardScaler()
X = scaler.fit_transform(X).astype(np.float32)  # <- PM314
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=1)
train_ds = TensorDataset(torch.from_numpy(X_train), torch.from_numpy(y_train))
val_ds = TensorDataset(torch.from_numpy(X_val), torch.from_numpy(y_val))
train_dl = DataLoader(train_ds, batch_size=32, shuffle=True)
val_dl = DataLoader(val_ds, batch_size=64)

# %% model
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()

# %% fit
for epoch in range(15):
    model.train()
    for xb, yb in train_dl:
        loss = loss_fn(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in val_dl)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: validation accuracy {hits / len(val_ds):.3f}")
