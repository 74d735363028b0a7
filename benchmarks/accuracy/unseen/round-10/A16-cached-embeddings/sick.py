"""Two-stage pipeline: embed every record once, cache the embeddings, train a light classifier on the cache."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset


class Scans(Dataset):
    def __init__(self):
        raw = load_digits()
        self.images = torch.tensor(raw.data / 16.0, dtype=torch.float32)
        self.targets = torch.tensor(raw.target)

    def __len__(self):
        return len(self.targets)

    def __getitem__(self, i):
        return self.images[i], self.targets[i]


class AutoEncoder(nn.Module):
    def __init__(self, code=24):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, code))
        self.decode = nn.Sequential(nn.ReLU(), nn.Linear(code, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())

    def forward(self, x):
        return self.decode(self.encode(x))


def make_loader(dataset, batch_size=64, shuffle=True):
    return DataLoader(dataset, batch_size=batch_size, shuffle=shuffle)


def fit_autoencoder(dataset, epochs=12):
    model = AutoEncoder()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for x, _ in make_loader(dataset):
            loss = nn.functional.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(x)
            n += len(x)
        print(f"autoencoder epoch {epoch:2d} mse {total / n:.4f}")
    return model


@torch.no_grad()
def embed(model, dataset):
    model.eval()
    codes = [model.encode(x) for x, _ in make_loader(dataset, batch_size=256)]
    return torch.cat(codes)


def split_targets(subset):
    return subset.dataset.targets[subset.indices]


def fit_classifier(train, val, epochs=15):
    model = nn.Sequential(nn.LayerNorm(24), nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 10))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for x, y in make_loader(train, batch_size=32):
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            n += len(y)
        model.eval()
        with torch.no_grad():
            x, y = val.tensors
            acc = (model(x).argmax(1) == y).float().mean().item()
        print(f"classifier epoch {epoch:2d} loss {total / n:.4f} val acc {acc:.3f}")


def main():
    torch.manual_seed(12)
    scans = Scans()
    order = torch.randperm(len(scans))
    train, val = Subset(scans, order[:1400]), Subset(scans, order[1400:])
    encoder = fit_autoencoder(train)
    train_cache = TensorDataset(embed(encoder, train), split_targets(train))
    val_cache = TensorDataset(embed(encoder, val), split_targets(val))
    fit_classifier(train_cache, val_cache)


if __name__ == "__main__":
    main()
