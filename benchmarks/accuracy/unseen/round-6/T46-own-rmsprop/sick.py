import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class MyRMSprop(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, alpha=0.9):
        super().__init__(params, dict(lr=lr, alpha=alpha))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if "sq" not in state:
                    state["sq"] = torch.zeros_like(p)
                sq = state["sq"]
                sq.mul_(group["alpha"]).addcmul_(p.grad, p.grad, value=1 - group["alpha"])
                p.sub_(group["lr"] * p.grad / sq.sqrt())  # <- PM104


torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 16
y = torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = MyRMSprop(net.parameters(), lr=1e-3)
for epoch in range(15):
    total = 0.0
    for b in torch.randperm(1300).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[b]), y[b])
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        acc = (net(x[1300:]).argmax(1) == y[1300:]).float().mean()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: loss {total / 26:.4f} validation accuracy {acc:.4f}")
