"""Five-fold cross-validation with samplers over one dataset: a model per fold, all built first, two epochs over all folds."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(8)
digits = load_digits()
dataset = TensorDataset(torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target))
folds = KFold(5, shuffle=True, random_state=0)
models = [nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10)) for _ in range(5)]
optimizers = [torch.optim.Adam(model.parameters(), lr=3e-3) for model in models]


def train(model, optimizer, loader):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader)


for epoch in range(2):
    right = 0
    for fold, (train_ids, val_ids) in enumerate(folds.split(digits.data)):
        train_loader = DataLoader(dataset, batch_size=32, sampler=SubsetRandomSampler(train_ids))
        val_loader = DataLoader(dataset, batch_size=64, sampler=SubsetRandomSampler(val_ids))
        train(models[fold], optimizers[fold], train_loader)
        right += validate(models[fold], val_loader)
    print(f"epoch {epoch} accuracy over the folds {right / len(dataset):.3f}")
