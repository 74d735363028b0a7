import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class Block(nn.Module):
    def __init__(self, cin, cout, kernel, dilation):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv = nn.Conv1d(cin, cout, kernel, dilation=dilation)
        self.skip = nn.Conv1d(cin, cout, 1)

    def forward(self, x):
        h = F.pad(x, (self.pad // 2, self.pad - self.pad // 2))  # <- PM417
        return torch.relu(self.conv(h)) + self.skip(x)


class TCN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.blocks = nn.Sequential(*[Block(1 if i == 0 else width, width, 3, 2**i) for i in range(3)])
        self.head = nn.Conv1d(width, 1, 1)

    def forward(self, load):
        return self.head(self.blocks(load[:, None]))[:, 0]


def households(rng, n, length):
    """Half-hourly load, one series per household."""
    x = np.zeros((n, length + 50))
    e = 0.5 * rng.standard_normal(x.shape)
    for t in range(2, x.shape[1]):
        x[:, t] = 1.6 * x[:, t - 1] - 0.8 * x[:, t - 2] + e[:, t]
    return torch.tensor(x[:, 50:], dtype=torch.float32) / 2


def train(model, series, steps=400, bs=32, lr=3e-3):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(steps):
        batch = series[torch.randint(0, len(series), (bs,))]
        pred = model(batch[:, :-1])
        loss = F.mse_loss(pred, batch[:, 1:])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 100 == 99:
            print(f"step {step + 1} one-step mse {loss.item():.4f}")


@torch.no_grad()
def live(model, series, start=40, n=20):
    """What the dispatcher gets: at each half hour only the past is known."""
    model.eval()
    errors = [F.mse_loss(model(series[:, :t])[:, -1], series[:, t]).item() for t in range(start, start + n)]
    return sum(errors) / n


torch.manual_seed(4)
torch.set_num_threads(1)
rng = np.random.default_rng(4)
history, later = households(rng, 400, 64), households(rng, 200, 64)
net = TCN()
train(net, history)
print(f"mse when used live {live(net, later):.4f}")
print(f"mse of repeating the last value {F.mse_loss(later[:, 39:59], later[:, 40:60]).item():.4f}")
