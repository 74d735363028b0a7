"""An active-learning loop (a new model each round, most uncertain samples are labelled), then self-training."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
digits = load_digits()
x, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
pool, test = TensorDataset(x[:1300], y[:1300]), TensorDataset(x[1300:], y[1300:])


def new_model():
    return nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))


def fit(dataset, epochs):
    model = new_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=len(dataset) % 32 == 1)
    for _ in range(epochs):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
    return model.eval()


@torch.no_grad()
def probabilities(model, dataset):
    return torch.cat([model(batch[0]).softmax(1) for batch in DataLoader(dataset, batch_size=256)])


def accuracy(model):
    return (probabilities(model, test).argmax(1) == test.tensors[1]).float().mean().item()


known = list(rng.choice(1300, 65, replace=False))
for round in range(4):
    model = fit(Subset(pool, known), epochs=12)
    print(f"round {round}: {len(known)} labels, accuracy {accuracy(model):.4f}")
    rest = np.setdiff1d(np.arange(1300), known)
    p = probabilities(model, Subset(pool, rest))
    entropy = -(p * p.clamp_min(1e-9).log()).sum(1)
    known += rest[entropy.argsort(descending=True)[:48].numpy()].tolist()

rest = np.setdiff1d(np.arange(1300), known)
p = probabilities(model, Subset(pool, rest))
sure = p.max(1).values > 0.9
pseudo = TensorDataset(pool.tensors[0][rest][sure], p.argmax(1)[sure])
print("pseudo-labels", len(pseudo), "right", (pseudo.tensors[1] == pool.tensors[1][rest][sure]).float().mean().item())
student = fit(ConcatDataset([Subset(pool, known), pseudo]), epochs=4)
print("student", accuracy(student))
assert accuracy(student) > 0.85
