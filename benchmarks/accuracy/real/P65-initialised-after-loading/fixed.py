"""Two-stage speech-command model: pretrained front end, new classifier."""
import io

import torch
import torch.nn as nn
import torch.nn.functional as F


def init_weights(m):
    if isinstance(m, (nn.Conv1d, nn.Linear)):
        nn.init.kaiming_normal_(m.weight)
        nn.init.zeros_(m.bias)


class FrontEnd(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 16, 9, stride=2, padding=4)
        self.conv2 = nn.Conv1d(16, 32, 5, stride=2, padding=2)

    def forward(self, wave):
        return F.relu(self.conv2(F.relu(self.conv1(wave))))


class Commands(nn.Module):
    def __init__(self, pretrained=None, classes=5):
        super().__init__()
        self.front = FrontEnd()
        self.head = nn.Linear(32, classes)
        self.apply(init_weights)
        if pretrained is not None:
            self.front.load_state_dict(torch.load(pretrained))

    def forward(self, wave):
        return self.head(self.front(wave).mean(-1))


def waves(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    t = torch.arange(64).float()
    f = 0.15 + 0.12 * y.float().unsqueeze(1)
    return (torch.sin(f * t + 6 * torch.rand(n, 1, generator=g)) + 0.5 * torch.randn(n, 64, generator=g)).unsqueeze(1), y


def pretrain():
    front, back = FrontEnd(), nn.Linear(32, 64)
    opt = torch.optim.Adam([*front.parameters(), *back.parameters()], lr=2e-3)
    for step in range(150):
        x, _ = waves(64, step)
        loss = F.mse_loss(back(front(x).mean(-1)), x[:, 0].abs().cumsum(-1) / 64)
        opt.zero_grad()
        loss.backward()
        opt.step()
    buffer = io.BytesIO()
    torch.save(front.state_dict(), buffer)
    buffer.seek(0)
    return buffer


torch.manual_seed(6)
model = Commands(pretrain())
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = waves(600, 1001)
x_val, y_val = waves(200, 1002)
for epoch in range(8):
    model.train()
    for idx in torch.randperm(600).split(30):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        print(epoch, round(loss.item(), 3), (model(x_val).argmax(1) == y_val).float().mean().item())
