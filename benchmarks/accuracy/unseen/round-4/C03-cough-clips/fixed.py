import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(0)
DIM = 80


def clinic(n):
    y = rng.integers(0, 2, n)
    x = rng.standard_normal((n, DIM))
    x[:, :4] += 0.45 * (2 * y[:, None] - 1)
    return x.astype(np.float32), y


def augment(x, y, copies=5):
    """Louder, quieter, a little room noise."""
    xs, ys = [x], [y]
    for _ in range(copies):
        gain = rng.uniform(0.9, 1.1, (len(x), 1))
        xs.append((x * gain + 0.05 * rng.standard_normal(x.shape)).astype(np.float32))
        ys.append(y)
    return np.concatenate(xs), np.concatenate(ys)


# %% clips
clips, status = clinic(260)
x_train, x_test, y_train, y_test = train_test_split(clips, status, test_size=0.2, random_state=75)
x_train, y_train = augment(x_train, y_train)
train = DataLoader(TensorDataset(torch.from_numpy(x_train), torch.from_numpy(y_train)), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(torch.from_numpy(x_test), torch.from_numpy(y_test)), batch_size=256)

# %% model
net = nn.Sequential(nn.Linear(DIM, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()


def score(batches):
    net.eval()
    good = n = 0
    with torch.no_grad():
        for xb, yb in batches:
            good += (net(xb).argmax(1) == yb).sum().item()
            n += len(yb)
    net.train()
    return good / n


# %% training
for epoch in range(25):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(net(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, test accuracy {score(test):.3f}")

# %% another clinic sends its recordings
x_new, y_new = clinic(2000)
print(f"second clinic accuracy {score([(torch.from_numpy(x_new), torch.from_numpy(y_new))]):.3f}")
