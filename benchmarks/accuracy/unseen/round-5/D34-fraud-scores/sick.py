# # Fraud detection
# Exported from the notebook of the same name.
import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import resample
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(31)
torch.set_num_threads(1)

# ## Data
X_all, y_all = make_classification(
    9000, n_features=24, n_informative=6, n_redundant=2, weights=[0.95], flip_y=0.02, class_sep=0.6, random_state=31
)
X, X_later, y, y_later = train_test_split(X_all, y_all, test_size=0.4, random_state=0, stratify=y_all)


def balance(X, y):
    rare, common = X[y == 1], X[y == 0]
    more = resample(rare, n_samples=len(common), replace=True, random_state=1)
    return np.concatenate([common, more]), np.concatenate([np.zeros(len(common), int), np.ones(len(more), int)])


# ## Split
X, y = balance(X, y)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
scaler = StandardScaler().fit(X_train)


def tensors(X, y):
    return TensorDataset(torch.tensor(scaler.transform(X), dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


train_loader = DataLoader(tensors(X_train, y_train), batch_size=128, shuffle=True)
val_loader = DataLoader(tensors(X_val, y_val), batch_size=512)
later_loader = DataLoader(tensors(X_later, y_later), batch_size=512)

# ## Model
net = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()


def score(loader):
    net.eval()
    with torch.no_grad():
        pairs = [((net(a).squeeze(1) > 0).numpy(), b.numpy()) for a, b in loader]
    return f1_score(np.concatenate([b for _, b in pairs]), np.concatenate([a for a, _ in pairs]))


# ## Training
for epoch in range(14):
    net.train()
    for a, b in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(a).squeeze(1), b)
        loss.backward()
        optimizer.step()
    if epoch % 3 == 1:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, validation F1 {score(val_loader):.3f}")

print(f"F1 on next month's transactions {score(later_loader):.3f}")
