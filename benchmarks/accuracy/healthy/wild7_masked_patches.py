"""Masked autoencoder: the loss covers hidden pixels only, the encoder never sees them."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.tensor(load_digits().data, dtype=torch.float32) / 16
x = x[torch.randperm(len(x))]
xtr, xte = x[:1500], x[1500:]


class MAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.mask_value = nn.Parameter(torch.zeros(64))
        self.net = nn.Sequential(nn.Linear(128, 192), nn.GELU(), nn.Linear(192, 192), nn.GELU(), nn.Linear(192, 64))

    def forward(self, x, hidden):
        seen = torch.where(hidden, self.mask_value.expand_as(x), x)
        return self.net(torch.cat([seen, hidden.float()], 1))


def random_hide(n, share=0.6):
    return torch.rand(n, 64) < share


def masked_mse(pred, target, hidden):
    err = (pred - target) ** 2 * hidden
    return err.sum() / hidden.sum().clamp(min=1)


model = MAE()
opt = torch.optim.AdamW(model.parameters(), lr=1.5e-3)
fixed_hidden = random_hide(len(xte))
base = masked_mse(xtr.mean(0).expand_as(xte), xte, fixed_hidden).item()
for epoch in range(20):
    model.train()
    total = 0.0
    loader = DataLoader(TensorDataset(xtr), 50, shuffle=True)
    for (b,) in loader:
        hidden = random_hide(len(b))
        loss = masked_mse(model(b, hidden), b, hidden)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            v = masked_mse(model(xte, fixed_hidden), xte, fixed_hidden).item()
        print(f"epoch {epoch + 1} train {total / len(loader):.4f} test {v:.4f} (mean image {base:.4f})")
