"""Five-fold cross-validation of a soil-moisture classifier."""
import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import nn, optim
from torch.utils.data import DataLoader, Subset, TensorDataset


def field_data(n=400, d=25):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, d)).astype(np.float32)
    logits = x[:, :5].sum(1) + 1.5 * rng.normal(size=n)
    return TensorDataset(torch.from_numpy(x), torch.from_numpy((logits > 0).astype(np.int64)))


class MLP(nn.Module):
    def __init__(self, d=25, hidden=96):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def forward(self, x):
        return self.net(x)


def fit(model, loader, epochs=12):
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


@torch.no_grad()
def score(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


torch.manual_seed(0)
dataset = field_data()
folds = KFold(n_splits=5, shuffle=True, random_state=0)
model = MLP()
results = []
for fold, (train_idx, val_idx) in enumerate(folds.split(np.arange(len(dataset)))):
    train_loader = DataLoader(Subset(dataset, train_idx.tolist()), batch_size=32, shuffle=True)
    val_loader = DataLoader(Subset(dataset, val_idx.tolist()), batch_size=80)
    loss = fit(model, train_loader)
    results.append(score(model, val_loader))  # <- PM307
    print(f"fold {fold}: train loss {loss:.3f}, accuracy {results[-1]:.3f}")
print(f"cross-validated accuracy {np.mean(results):.3f} +- {np.std(results):.3f}")
