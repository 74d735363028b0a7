"""Hourly electricity load: forecast the next hour from the last 48 (GRU)."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
SEED = 2
WINDOW = 48

HP = {
    "hidden": 32,
    "layers": 1,
    "batch_size": 64,
    "epochs": 6,
    "lr": 3e-3,
    "weight_decay": 0.5,
    "grad_clip": 1.0,
}


def load_series(hours, rng):
    t = np.arange(hours)
    day = np.sin(2 * np.pi * (t % 24) / 24 - 1.9) + 0.45 * np.sin(4 * np.pi * (t % 24) / 24)
    weekend = ((t // 24) % 7 >= 5) * -0.6
    season = 0.4 * np.cos(2 * np.pi * t / (24 * 90))
    weather = np.zeros(hours)
    for i in range(1, hours):
        weather[i] = 0.97 * weather[i - 1] + 0.08 * rng.standard_normal()
    return 310 + 55 * (day + weekend + season + weather) + 4 * rng.standard_normal(hours)


class Windows(Dataset):
    def __init__(self, series, mean, std):
        self.s = torch.tensor((series - mean) / std, dtype=torch.float32)

    def __len__(self):
        return (len(self.s) - WINDOW) // 2

    def __getitem__(self, i):
        i = 2 * i
        return self.s[i:i + WINDOW].unsqueeze(-1), self.s[i + WINDOW]


class Forecaster(nn.Module):
    def __init__(self, hidden, layers):
        super().__init__()
        self.gru = nn.GRU(1, hidden, layers, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1]).squeeze(-1)


class Runner:
    def __init__(self, hp):
        torch.manual_seed(SEED)
        series = load_series(3400, np.random.default_rng(SEED))
        cut = 2800
        self.mean, self.std = series[:cut].mean(), series[:cut].std()
        self.train = DataLoader(Windows(series[:cut], self.mean, self.std), hp["batch_size"], shuffle=True)
        self.val = DataLoader(Windows(series[cut:], self.mean, self.std), 256)
        self.model = Forecaster(hp["hidden"], hp["layers"])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=hp["lr"], weight_decay=hp["weight_decay"])
        self.hp = hp
        self.mse = nn.MSELoss()

    def fit(self):
        for epoch in range(1, self.hp["epochs"] + 1):
            self.model.train()
            run = []
            for x, y in self.train:
                self.opt.zero_grad()
                loss = self.mse(self.model(x), y)
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), self.hp["grad_clip"])
                self.opt.step()
                run.append(loss.item())
            print(f"[{epoch}] train mse {np.mean(run):.4f}  val mae {self.evaluate():.2f} MW")

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        err = torch.cat([(self.model(x) - y).abs() for x, y in self.val])
        return err.mean().item() * self.std


if __name__ == "__main__":
    Runner(HP).fit()
