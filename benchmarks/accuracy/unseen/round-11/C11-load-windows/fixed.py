"""Hour-ahead electric load forecasting with a 1-D conv net, compared with persistence."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)
torch.manual_seed(8)


def load_curve(hours, seed=8):
    r = np.random.default_rng(seed)
    t = np.arange(hours)
    daily = np.sin(2 * np.pi * t / 24) + 0.6 * np.sin(4 * np.pi * t / 24 + 1.0)
    weekly = 0.5 * np.cos(2 * np.pi * t / 168)
    ar = np.zeros(hours)
    for i in range(1, hours):
        ar[i] = 0.6 * ar[i - 1] + 0.12 * r.standard_normal()
    return (daily + weekly + ar).astype(np.float32)


class WindowDataset(Dataset):
    def __init__(self, series, history, horizon=1):
        self.series = torch.from_numpy(series)
        self.history, self.horizon = history, horizon

    def __len__(self):
        return len(self.series) - self.history - self.horizon + 1

    def __getitem__(self, i):
        past = self.series[i:i + self.history]
        future = self.series[i + self.history:i + self.history + self.horizon]
        return past.unsqueeze(0), future


class Forecaster(nn.Module):
    def __init__(self, history, horizon):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(1, 16, 5, padding=2), nn.GELU(), nn.Conv1d(16, 16, 5, padding=2, stride=2), nn.GELU(),
            nn.Flatten(), nn.Linear(16 * history // 2, 48), nn.GELU(), nn.Linear(48, horizon))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def backtest(model, series, history, steps=400):
    model.eval()
    s = torch.from_numpy(series)
    err, naive = [], []
    for now in range(history, history + steps):
        pred = model(s[now - history:now].view(1, 1, -1))[0, 0]
        err.append((pred - s[now]).abs().item())
        naive.append((s[now - 1] - s[now]).abs().item())
    return np.mean(err), np.mean(naive)


if __name__ == "__main__":
    HISTORY = 48
    curve = load_curve(4200)
    mu, sd = curve[:3500].mean(), curve[:3500].std()
    curve = (curve - mu) / sd
    train, test = curve[:3500], curve[3500:]
    loader = DataLoader(WindowDataset(train, HISTORY), batch_size=64, shuffle=True)
    model = Forecaster(HISTORY, 1)
    opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
    for epoch in range(7):
        model.train()
        mse = []
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            mse.append(loss.item())
        mae, naive = backtest(model, test, HISTORY)
        print(f"epoch {epoch} train_mse {np.mean(mse):.5f} backtest_mae {mae:.4f} persistence_mae {naive:.4f}")
