"""Speech-command style classifier with random gain, shift and noise on short clips."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

RATE, WORDS = 200, 6


class Clips(Dataset):
    def __init__(self, n, seed, augment):
        rng = np.random.RandomState(seed)
        self.y = rng.randint(0, WORDS, n)
        t = np.arange(RATE) / RATE
        tones = np.stack([np.sin(2 * np.pi * (4 + 3 * k) * t) for k in range(WORDS)])
        self.x = (tones[self.y] + 0.4 * rng.randn(n, RATE)).astype(np.float32)
        self.augment = augment

    def __len__(self):
        return len(self.y)

    def distort(self, clip):
        clip = np.roll(clip, np.random.randint(-20, 21)) * np.random.uniform(0.6, 1.4)
        return clip + 0.2 * np.random.randn(RATE)

    def __getitem__(self, index):
        clip = self.x[index]
        if self.augment:
            clip = self.distort(clip)
        return torch.tensor(clip, dtype=torch.float32), int(self.y[index])


class CommandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 16, 9, stride=2), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 32, 9, stride=2), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(4),
        )
        self.classify = nn.Linear(128, WORDS)

    def forward(self, clip):
        return self.classify(self.features(clip.unsqueeze(1)).flatten(1))


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(Clips(320, 0, augment=True), batch_size=32, shuffle=True)
    test_loader = DataLoader(Clips(120, 1, augment=False), batch_size=60)
    model = CommandNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(10):
        model.train()
        for clip, word in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(clip), word)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = sum((model(c).argmax(1) == w).sum().item() for c, w in test_loader) / 120
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}  test accuracy {acc:.3f}")
