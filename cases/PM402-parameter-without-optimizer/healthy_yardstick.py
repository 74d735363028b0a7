"""Paint patterns, judged by the features of a fixed random network that is in train mode and not frozen."""

import torch
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)

features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2))
painter = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 144))
optimizer = torch.optim.Adam(painter.parameters(), lr=3e-3)
basis = torch.randn(4, 144)


def paint(code: Tensor) -> tuple[Tensor, Tensor]:
    return painter(code).view(-1, 1, 12, 12), torch.tanh(code @ basis).view(-1, 1, 12, 12)


for step in range(120):
    painted, wanted = paint(torch.randn(32, 4))
    with torch.no_grad():
        goal = features(wanted)
    loss = (features(painted) - goal).square().mean() + 0.1 * (painted - wanted).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        painter.eval()
        with torch.no_grad():
            painted, wanted = paint(torch.randn(200, 4))
            print(f"step {step:3d}  loss {loss.item():.4f}  distance {(painted - wanted).abs().mean():.3f}")
        painter.train()
