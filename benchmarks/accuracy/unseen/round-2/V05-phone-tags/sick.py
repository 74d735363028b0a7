import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
CLASSES = FRAMES = 12
voice = torch.randn(CLASSES, 8)


def clips(n):
    y = torch.randint(0, CLASSES, (n, FRAMES))
    return (voice[y] + 0.6 * torch.randn(n, FRAMES, 8)).transpose(1, 2), y


class FrameNet(nn.Module):
    """(batch, features, frames) -> (batch, classes, frames)"""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv1d(8, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, CLASSES, 1))

    def forward(self, x):
        return self.net(x)


def frame_accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        guess = model(x).argmax(dim=-1)  # <- PM616
    return (guess == y).float().mean().item()


x, y = clips(800)
xv, yv = clips(200)
model = FrameNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    model.train()
    for b in torch.randperm(800).split(40):
        loss = F.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        vloss = F.cross_entropy(model(xv), yv).item()
    print(f"epoch {epoch} loss {loss.item():.3f} val loss {vloss:.3f} val frame acc {frame_accuracy(model, xv, yv):.3f}")
