"""Whale-call detection: rare calls are sampled more often."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler


class Calls(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = (torch.rand(n, generator=g) < 0.1).long()
        t = torch.linspace(0, 1, 40)
        sweep = torch.sin(2 * torch.pi * (4 * t + 10 * t**2))
        phase = torch.rand(n, 1, generator=g)
        self.audio = torch.randn(n, 40, generator=g) + self.labels[:, None] * sweep * (1 + phase)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, idx):
        return self.audio[idx], self.labels[idx]


def make_sampler(dataset):
    counts = torch.bincount(dataset.labels)
    weights = 1.0 / counts.float()
    return WeightedRandomSampler(weights, num_samples=len(dataset), replacement=True)  # <- PM316


def recall(model, loader):
    model.eval()
    with torch.no_grad():
        pairs = [(model(x).argmax(1), y) for x, y in loader]
    predicted, labels = (torch.cat(column) for column in zip(*pairs))
    return (predicted[labels == 1] == 1).float().mean().item(), (predicted == labels).float().mean().item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = Calls(1000, seed=0), Calls(400, seed=1)
    train_loader = DataLoader(train_set, batch_size=50, sampler=make_sampler(train_set))
    val_loader = DataLoader(val_set, batch_size=200)
    model = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for audio, label in train_loader:
            loss = nn.functional.cross_entropy(model(audio), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} train loss {total / len(train_loader):.4f} recall {recall(model, val_loader)}")


if __name__ == "__main__":
    main()
