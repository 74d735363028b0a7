import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
DTYPE = torch.float32


def rows(n):
    x = torch.randn(n, 32)
    y = torch.tanh(x[:, :8].sum(1) * 0.4) + 0.5 * x[:, 9]
    return x.to(DTYPE), y.unsqueeze(1).to(DTYPE)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(32, 64)
        self.mid = nn.Linear(64, 64)
        self.out = nn.Linear(64, 1)

    def forward(self, x):
        x = torch.nn.functional.gelu(self.inp(x))
        x = torch.nn.functional.gelu(self.mid(x))
        return self.out(x)


x, y = rows(2000)
xv, yv = rows(500)
model = Regressor().to(DTYPE)
opt = torch.optim.SGD(model.parameters(), lr=2e-3)
for epoch in range(60):
    for b in torch.randperm(2000).split(40):
        loss = (model(x[b]) - y[b]).float().pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 15 == 14:
        with torch.no_grad():
            v = (model(xv) - yv).float().pow(2).mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val {v:.4f} (variance {yv.float().var().item():.3f})")
