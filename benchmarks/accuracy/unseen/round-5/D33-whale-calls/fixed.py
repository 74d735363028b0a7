import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

SAMPLE_RATE, SECONDS = 200, 1


class ClassifierDataset(Dataset):
    """Short recordings; a minority holds a call."""

    def __init__(self, size, call_rate, seed):
        rng = np.random.default_rng(seed)
        self.labels = (rng.random(size) < call_rate).astype(np.int64)
        t = np.arange(SAMPLE_RATE * SECONDS) / SAMPLE_RATE
        f0 = rng.uniform(18, 26, size)[:, None]
        call = np.sin(2 * np.pi * (f0 * t + 9 * t**2) + rng.uniform(0, 6.28, (size, 1)))
        noise = rng.normal(0, 1.0, (size, len(t)))
        self.audio = (noise + 1.1 * self.labels[:, None] * call).astype(np.float32)
        spectrum = np.abs(np.fft.rfft(self.audio, axis=1))[:, :64]
        self.features = np.log1p(spectrum).astype(np.float32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.features[i], self.labels[i]


def build_loader(dataset, batch_size):
    counts = np.bincount(dataset.labels, minlength=2)
    weights = 1.0 / counts
    sampler = WeightedRandomSampler(weights[dataset.labels], num_samples=len(dataset), replacement=True)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)


def evaluate(model, dataset):
    model.eval()
    with torch.no_grad():
        guess = model(torch.from_numpy(dataset.features)).argmax(1).numpy()
    recall = [(guess[dataset.labels == c] == c).mean() for c in (0, 1)]
    return float(np.mean(recall))


def run():
    torch.manual_seed(9)
    torch.set_num_threads(1)
    train_set, val_set = ClassifierDataset(3000, 0.12, seed=9), ClassifierDataset(1000, 0.12, seed=10)
    loader = build_loader(train_set, 64)
    model = nn.Sequential(nn.Linear(64, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Dropout(0.3), nn.Linear(48, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        losses = []
        for audio, label in loader:
            optimizer.zero_grad()
            loss = criterion(model(audio), label)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} train loss {np.mean(losses):.4f} val balanced accuracy {evaluate(model, val_set):.3f}")


run()
