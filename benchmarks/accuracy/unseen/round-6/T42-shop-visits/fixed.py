import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_


def shops(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    rate = (1.5 + 1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3]).clamp(max=6).exp()
    return x, torch.poisson(rate, generator=g)


class VisitModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


torch.manual_seed(6)
torch.set_num_threads(1)
x, y = shops(2000, 1)
x_val, y_val = shops(500, 2)
model = VisitModel()
criterion = nn.PoissonNLLLoss(log_input=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
print(f"validation loss of a constant {criterion(torch.full_like(y_val, y.mean().log().item()), y_val):.3f}")

for epoch in range(30):
    model.train()
    for idx in torch.randperm(len(x)).split(40):
        optimizer.zero_grad()
        loss = criterion(model(x[idx]), y[idx])
        loss.backward()
        clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            v = criterion(model(x_val), y_val)
        print(f"epoch {epoch + 1}: train {loss.item():.3f}, validation {v.item():.3f}")
