"""A residual network that starts as the identity (zero norm gains, zero head), then adapts through zero-start LoRA."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CLASSES, INPUTS, WIDTH = 6, 16, 48


class Block(nn.Module):
    """Pre-activation block whose last norm has gain zero, so that the block is the identity at first."""

    def __init__(self, width: int):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, width), nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)
        for bias in (self.fc1.bias, self.fc2.bias):
            nn.init.zeros_(bias)
        nn.init.zeros_(self.norm.weight)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.norm(self.fc2(F.relu(self.fc1(x))))


class LoRA(nn.Module):
    """Either factor may start at zero, as long as the other one does not."""

    def __init__(self, base: nn.Linear, rank: int = 6):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.zeros(rank, base.in_features))
        self.up = nn.Parameter(torch.randn(base.out_features, rank) / rank**0.5)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + x @ self.down.T @ self.up.T


class ResidualNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Linear(INPUTS, WIDTH)
        self.blocks = nn.Sequential(*(Block(WIDTH) for _ in range(3)))
        self.head = nn.Linear(WIDTH, CLASSES)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(x)))


def spiral_classes(n: int, directions: Tensor) -> tuple[Tensor, Tensor]:
    """The class is the angular sector, twisted with the radius, of two hidden directions of the input."""
    x = torch.randn(n, INPUTS)
    u, v = (x @ directions).unbind(dim=1)
    angle = torch.atan2(v, u) + 0.8 * torch.hypot(u, v)
    return x, ((angle / (2 * torch.pi) % 1) * CLASSES).long().clamp(max=CLASSES - 1)


def fit(model: nn.Module, directions: Tensor, steps: int, lr: float) -> None:
    x, y = spiral_classes(6000, directions)
    x_val, y_val = spiral_classes(500, directions)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr)
    for step in range(steps + 1):
        model.train()
        rows = torch.randint(len(x), (64,))
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % (steps // 4) == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(x_val).argmax(dim=1) == y_val).float().mean().item()
            print(f"  step {step:3d}  loss {loss.item():.3f}  val accuracy {accuracy:.3f}")


torch.set_num_threads(1)
torch.manual_seed(0)
directions = torch.linalg.qr(torch.randn(INPUTS, 4)).Q
model = ResidualNet()
print("training")
fit(model, directions[:, :2], steps=320, lr=4e-3)
model.requires_grad_(False)
model.stem = LoRA(model.stem)
model.head = LoRA(model.head)
print("adapting to other directions")
fit(model, directions[:, 2:], steps=200, lr=1e-2)
