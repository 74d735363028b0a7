"""Multi-task net; one term of the loss is added as a number."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(900, 12)
cls = (x[:, :3].sum(1) > 0).long()
reg = torch.sin(x[:, 3:4]) + x[:, 4:5]


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 48), nn.ReLU())
        self.a, self.b = nn.Linear(48, 2), nn.Linear(48, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.a(h), self.b(h)


net = MultiTask()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(6):
    net.train()
    for i in torch.randperm(720).split(36):
        out_a, out_b = net(x[i])
        loss_a = F.cross_entropy(out_a, cls[i])
        loss_b = F.mse_loss(out_b, reg[i]) + 0.01 * out_b.abs().mean()
        loss = loss_a + 0.5 * loss_b.item() + 0.001 * out_b.pow(2).mean()  # <- PM506
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        a, b = net(x[720:])
        print(epoch, loss.item(), (a.argmax(1) == cls[720:]).float().mean().item(), F.mse_loss(b, reg[720:]).item())
