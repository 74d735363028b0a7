"""Radio signals with random impairments drawn inside the dataset, loaded by several workers."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class ModulatedSignals(Dataset):
    def __init__(self, n=320, length=64, seed=0):
        self.n, self.length = n, length
        self.rng = np.random.default_rng(seed)  # <- PM309
        self.labels = np.arange(n) % 4

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        t = np.linspace(0, 1, self.length)
        snr, phase = self.rng.uniform(0.1, 0.6), self.rng.uniform(0, 2 * np.pi)
        tone = np.sin(2 * np.pi * (3 + 4 * self.labels[i]) * t + phase)
        signal = tone + snr * self.rng.standard_normal(self.length)
        return signal.astype(np.float32), int(self.labels[i])


class SignalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 16, 9, padding=4)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x.unsqueeze(1))).amax(-1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dataset = ModulatedSignals()
    loader = DataLoader(dataset, batch_size=16, shuffle=True, num_workers=2)
    model = SignalNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        total = 0.0
        for signal, label in loader:
            loss = nn.functional.cross_entropy(model(signal), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
