import torch
import torch.nn as nn

torch.manual_seed(3)
torch.set_num_threads(1)


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0, alpha=0.25):
        super().__init__()
        self.gamma, self.alpha = gamma, alpha

    def forward(self, logit, y):
        p = torch.sigmoid(logit)
        pos = -self.alpha * (1 - p) ** self.gamma * y * torch.log(p)
        neg = -(1 - self.alpha) * p ** self.gamma * (1 - y) * torch.log((1 - p).clamp(min=1e-7))
        return (pos + neg).mean() * 10


def payments(n):
    x = torch.randn(n, 8)
    x[:, 0] = x[:, 0].exp() ** 2
    y = ((x[:, 0] > 4) | (x[:, 1] + x[:, 2] > 2.2)).float()
    return x, y


x, y = payments(3000)
xv, yv = payments(800)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
crit = FocalLoss()
for epoch in range(10):
    for b in torch.randperm(3000).split(60):
        loss = crit(model(x[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        opt.step()
    with torch.no_grad():
        acc = ((model(xv).squeeze(1) > 0).float() == yv).float().mean().item()
    print("epoch", epoch, "loss %.4f" % loss.item(), "val acc %.3f" % acc)
