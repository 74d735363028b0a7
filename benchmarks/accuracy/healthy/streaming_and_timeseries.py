"""Online learning, one sample at a time and without shuffling; then forecasting windows in time order."""

import math

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

# --- 1. a stream with drift: predict, then learn ---------------------------------------------------------------------
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
errors = []
for t in range(900):
    x = torch.randn(4)
    angle = t / 300
    y = math.cos(angle) * x[0] + math.sin(angle) * x[1]
    prediction = model(x).squeeze()
    loss = (prediction - y) ** 2
    errors.append(loss.item())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("stream", sum(errors[:100]) / 100, sum(errors[-100:]) / 100)
assert sum(errors[-100:]) < 0.5 * sum(errors[:100])

# --- 2. a stateful classifier of regimes: labels stay the same for long stretches ---------------------------------------
signal, state = [], []
current = 0
for t in range(6000):
    if torch.rand(()) < 0.01:
        current = int(torch.randint(3, ()))
    signal.append(torch.randn(()) * (0.3, 1.0, 2.5)[current])
    state.append(current)
signal, state = torch.stack(signal).view(4, -1, 1), torch.tensor(state).view(4, -1)


class Regimes(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.GRU(2, 24, batch_first=True), nn.Linear(24, 3)

    def forward(self, x, h):
        y, h = self.rnn(torch.cat([x, x.abs()], 2), h)
        return self.out(y), h.detach()


net = Regimes()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    h, right, seen = None, 0, 0
    for start in range(0, signal.size(1), 30):
        x, y = signal[:, start : start + 30], state[:, start : start + 30]
        logits, h = net(x, h)
        loss = nn.functional.cross_entropy(logits.reshape(-1, 3), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        right, seen = right + (logits.argmax(-1) == y).sum().item(), seen + y.numel()
    print("regimes", epoch, loss.item(), right / seen)
assert right / seen > 0.7

# --- 3. forecasting, windows in order, teacher: the past --------------------------------------------------------------------
t = torch.arange(1200.0)
series = torch.sin(t / 8) + 0.5 * torch.sin(t / 21) + 0.05 * torch.randn(1200)
windows = series.unfold(0, 25, 1)
forecaster = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(forecaster.parameters(), lr=3e-3)
for epoch in range(4):
    for chunk in windows[:1000].split(50):
        loss = nn.functional.mse_loss(forecaster(chunk[:, :-1]), chunk[:, -1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(forecaster(windows[1000:, :-1]), windows[1000:, -1:]).item()
    print("forecast", epoch, loss.item(), val)
assert val < 0.1 * series.var()
