"""A hypernetwork: one net writes the weights of a small regressor from a description of the task."""
import torch
from torch import nn

HIDDEN = 16


class HyperNet(nn.Module):
    """The main net's weights are this net's output, so the main net has no parameters of its own."""

    def __init__(self, task_dim=3):
        super().__init__()
        self.shapes = [(HIDDEN, 1), (HIDDEN,), (1, HIDDEN), (1,)]
        total = sum(torch.Size(s).numel() for s in self.shapes)
        self.body = nn.Sequential(nn.Linear(task_dim, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.write = nn.Linear(64, total)
        self.base = nn.Parameter(torch.randn(total) * 0.7)
        nn.init.normal_(self.write.weight, std=0.02)
        nn.init.zeros_(self.write.bias)

    def forward(self, task):
        flat = self.base + self.write(self.body(task))
        parts, at = [], 0
        for s in self.shapes:
            n = torch.Size(s).numel()
            parts.append(flat[:, at : at + n].view(-1, *s))
            at += n
        return parts


def main_net(weights, x):
    w1, b1, w2, b2 = weights
    h = torch.tanh(torch.einsum("bni,bhi->bnh", x, w1) + b1[:, None])
    return torch.einsum("bnh,boh->bno", h, w2) + b2[:, None]


def tasks(n, points=20):
    task = torch.rand(n, 3) * 2 - 1
    x = torch.rand(n, points, 1) * 4 - 2
    amp, shift, slope = (task[:, i, None, None] for i in range(3))
    return task, x, (1 + amp) * torch.sin(2 * x + 2 * shift) + slope * x


torch.manual_seed(0)
torch.set_num_threads(1)
net = HyperNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
test_task, test_x, test_y = tasks(300)
for step in range(800):
    task, x, y = tasks(48)
    loss = (main_net(net(task), x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    if step % 160 == 159:
        with torch.no_grad():
            err = (main_net(net(test_task), test_x) - test_y).pow(2).mean() / test_y.var()
        print(f"step {step + 1} loss {loss.item():.4f} unexplained variance on new tasks {err:.3f}")
