"""Short recordings that are filled in when they are first read, and augmented afresh each time."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SAMPLES, EPOCHS = 48, 12


def recordings(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    machine = rng.integers(0, 4, count)
    time = np.arange(SAMPLES)
    hum = np.sin(2 * np.pi * time * (machine[:, None] + 2) / SAMPLES + rng.uniform(0, 6, (count, 1)))
    return (hum + 0.4 * rng.standard_normal((count, SAMPLES))).astype(np.float32), machine


class Recordings(Dataset):
    def __init__(self, count: int, seed: int, hiss: float = 0.0) -> None:
        self.raw, self.machines = recordings(count, seed)
        self.waves = np.zeros_like(self.raw)  # cleaned on first use
        self.hiss = hiss

    def __len__(self) -> int:
        return len(self.waves)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        if not self.waves[index].any():
            self.waves[index] = self.raw[index] - self.raw[index].mean()
        wave = self.waves[index]
        if self.hiss:
            wave = wave * np.float32(np.random.uniform(0.8, 1.2))
            wave += self.hiss * np.random.standard_normal(SAMPLES).astype(np.float32)
        return wave, int(self.machines[index])


def main() -> None:
    torch.manual_seed(0)
    np.random.seed(0)
    torch.set_num_threads(1)
    train = DataLoader(Recordings(800, 1, hiss=0.5), batch_size=32, shuffle=True)
    val = DataLoader(Recordings(200, 2), batch_size=200)
    model = nn.Sequential(nn.Linear(SAMPLES, 64), nn.ReLU(), nn.Linear(64, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(EPOCHS):
        model.train()
        for wave, machine in train:
            loss = nn.functional.cross_entropy(model(wave), machine)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            wave, machine = next(iter(val))
            right = (model(wave).argmax(1) == machine).float().mean()
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.3f}")


if __name__ == "__main__":
    main()
