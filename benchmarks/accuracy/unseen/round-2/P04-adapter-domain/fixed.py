import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
torch.set_num_threads(1)
protos = torch.randn(6, 1, 8, 8)


def photos(n, gain=1.0, shift=0.0):
    y = torch.randint(0, 6, (n,))
    return (protos[y] + 0.7 * torch.randn(n, 1, 8, 8)) * gain + shift, y


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 12, 3, padding=1), nn.BatchNorm2d(12)
        self.c2, self.b2 = nn.Conv2d(12, 24, 3, padding=1), nn.BatchNorm2d(24)

    def forward(self, x):
        x = F.relu(self.b1(self.c1(x)))
        return F.max_pool2d(F.relu(self.b2(self.c2(x))), 4).flatten(1)


backbone = Backbone()
head_day, head_night = nn.Linear(96, 6), nn.Linear(96, 2)
opt = torch.optim.Adam([*backbone.parameters(), *head_day.parameters()], lr=3e-3)
for _ in range(120):
    x, y = photos(48)
    loss = F.cross_entropy(head_day(backbone(x)), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


def day_accuracy():
    backbone.eval()
    with torch.no_grad():
        x, y = photos(500)
        return (head_day(backbone(x)).argmax(1) == y).float().mean().item()


print("day accuracy before second task: %.3f" % day_accuracy())

# second task: one frozen backbone shared by two heads
for p in backbone.parameters():
    p.requires_grad = False
opt = torch.optim.Adam(head_night.parameters(), lr=5e-3)
for step in range(120):
    backbone.eval()
    head_night.train()
    x, y = photos(48, gain=0.3, shift=1.5)
    loss = F.cross_entropy(head_night(backbone(x)), (y >= 3).long())
    opt.zero_grad()
    loss.backward()
    opt.step()
print("night loss %.3f" % loss.item())
print("day accuracy after second task: %.3f" % day_accuracy())
