"""Cell-type annotation from gene expression: fit on a reference, validate on held-out cells."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Cells(Dataset):
    def __init__(self, n=500, genes=60, types=6):
        rng = np.random.default_rng(0)
        self.label = rng.integers(0, types, n)
        marker = 1.0 + 0.35 * rng.gamma(1.0, 1.0, (types, genes))
        counts = rng.poisson(marker[self.label])
        self.expression = np.log1p(counts).astype(np.float32)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.expression[i], self.label[i]


class Transformer1d(nn.Module):
    def __init__(self, genes, types):
        super().__init__()
        self.norm = nn.LayerNorm(genes)
        self.mask = nn.Linear(genes, 48)
        self.head = nn.Linear(48, types)

    def forward(self, x):
        return self.head(torch.relu(self.mask(self.norm(x))))


def splitDataSet(dataset, tr_ratio=0.8):
    n_train = int(len(dataset) * tr_ratio)
    return random_split(dataset, [n_train, len(dataset) - n_train], generator=torch.Generator().manual_seed(0))


def fit_model(epochs=6):
    exp_train, exp_valid = splitDataSet(Cells())
    train_loader = DataLoader(exp_train.dataset, batch_size=25, shuffle=True)
    valid_loader = DataLoader(exp_valid.dataset, batch_size=100)  # <- PM307
    model = Transformer1d(60, 6)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5)
    for epoch in range(epochs):
        model.train()
        for exp, label in train_loader:
            loss = nn.functional.cross_entropy(model(exp), label)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        correct = 0
        with torch.no_grad():
            for exp, label in valid_loader:
                correct += torch.eq(model(exp).argmax(1), label).sum().item()
        print(f"[epoch {epoch}] loss {loss.item():.3f} valid acc {correct / len(valid_loader.dataset):.3f} of {len(valid_loader.dataset)}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    fit_model()
