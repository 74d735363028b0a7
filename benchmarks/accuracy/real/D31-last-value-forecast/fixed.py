"""One-step-ahead stock forecast from sliding windows."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
price = torch.randn(1500).cumsum(0)
price = (price - price[:1200].mean()) / price[:1200].std()


def windows(series, size=20):
    xs, ys = [], []
    for i in range(len(series) - size):
        xs.append(series[i:i + size])
        ys.append(series[i + size])
    return torch.stack(xs).unsqueeze(-1), torch.stack(ys).unsqueeze(-1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 24, batch_first=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])


train = DataLoader(TensorDataset(*windows(price[:1200])), batch_size=60, shuffle=True)
val = DataLoader(TensorDataset(*windows(price[1200:])), batch_size=60)
net = Forecaster()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(6):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = sum(nn.functional.mse_loss(net(a), b).item() for a, b in val) / len(val)
    print(epoch, loss.item(), v)
