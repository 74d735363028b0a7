"""Next-hour temperature for a network of weather stations, GRU over the last twelve readings."""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def read_archive(stations=8, hours=700, seed=5):
    """The archive as delivered: one line per reading, ordered by time; a tenth of the readings never arrived."""
    rng = np.random.default_rng(seed)
    frames = []
    t = np.arange(hours)
    for s in range(stations):
        level = rng.normal(12, 6)
        phase, swing = rng.uniform(0, 24), rng.uniform(2, 6)
        weather = np.zeros(hours)
        for i in range(1, hours):
            weather[i] = 0.95 * weather[i - 1] + rng.normal(0, 0.5)
        temperature = level + swing * np.sin(2 * np.pi * (t + phase) / 24) + weather
        frames.append(pd.DataFrame({"time": t, "station": s, "temperature": temperature}))
    archive = pd.concat(frames)
    archive = archive.sample(frac=0.9, random_state=seed)
    return archive.sort_values("time", kind="stable").reset_index(drop=True)


class Windows(Dataset):
    """Windows of `length` readings and the reading that follows."""

    def __init__(self, archive, length, mean, std):
        values = ((archive["temperature"].to_numpy() - mean) / std).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(values, length + 1)
        self.x = torch.from_numpy(windows[:, :-1].copy()).unsqueeze(-1)
        self.y = torch.from_numpy(windows[:, -1].copy()).unsqueeze(-1)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1])


class Experiment:
    def __init__(self, length=12, batch_size=64, lr=3e-3, epochs=8):
        archive = read_archive()
        cut = int(archive["time"].max() * 0.8)
        past, future = archive[archive["time"] <= cut], archive[archive["time"] > cut]
        mean, std = past["temperature"].mean(), past["temperature"].std()
        self.train = DataLoader(Windows(past, length, mean, std), batch_size=batch_size, shuffle=True)
        self.test = DataLoader(Windows(future, length, mean, std), batch_size=256)
        self.model = Forecaster()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.loss = nn.MSELoss()
        self.epochs = epochs

    def train_epoch(self):
        self.model.train()
        losses = []
        for x, y in self.train:
            self.optimizer.zero_grad()
            loss = self.loss(self.model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    @torch.no_grad()
    def test_score(self):
        self.model.eval()
        pred = torch.cat([self.model(x) for x, _ in self.test])
        true = torch.cat([y for _, y in self.test])
        return 1 - ((pred - true) ** 2).mean().item() / true.var().item()

    def run(self):
        for epoch in range(self.epochs):
            print(f"epoch {epoch + 1}: train mse {self.train_epoch():.4f}   test R2 {self.test_score():.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    Experiment().run()
