"""Multi-label glyph spotting: focal loss on logits, squeeze-and-excitation gates, accumulated gradients."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

N_GLYPHS, SIZE, GLYPH = 5, 16, 5
ACCUMULATE = 2


def make_images(n: int, glyphs: Tensor) -> TensorDataset:
    labels = (torch.rand(n, N_GLYPHS) < 0.3).float()
    images = 0.3 * torch.randn(n, 1, SIZE, SIZE)
    corners = torch.randint(SIZE - GLYPH + 1, (n, N_GLYPHS, 2)).tolist()
    for i, g in labels.nonzero().tolist():
        row, col = corners[i][g]
        images[i, 0, row : row + GLYPH, col : col + GLYPH] += glyphs[g]
    return TensorDataset(images, labels)


class ChannelGate(nn.Module):
    """Squeeze-and-excitation: the sigmoid scales channels, it is not an output."""

    def __init__(self, channels: int):
        super().__init__()
        self.squeeze = nn.Linear(channels, channels // 4)
        self.excite = nn.Linear(channels // 4, channels)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.excite(F.relu(self.squeeze(x.mean(dim=(2, 3))))))
        return x * gate[:, :, None, None]


class GlyphNet(nn.Module):
    def __init__(self, width: int = 24):
        super().__init__()
        self.conv = nn.Conv2d(1, width, GLYPH)
        self.gate = ChannelGate(width)
        self.head = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, N_GLYPHS))

    def forward(self, x: Tensor) -> Tensor:
        x = self.gate(F.relu(self.conv(x)))
        return self.head(x.amax(dim=(2, 3)))


def focal_loss(logits: Tensor, target: Tensor, gamma: float = 1.5) -> Tensor:
    prob = torch.sigmoid(logits)
    missed = torch.where(target == 1, 1 - prob, prob)
    return (missed**gamma * F.binary_cross_entropy_with_logits(logits, target, reduction="none")).mean()


@torch.no_grad()
def f1_score(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    images, labels = data.tensors
    predicted = (torch.sigmoid(model(images)) > 0.5).float()
    hits = (predicted * labels).sum()
    return (2 * hits / (predicted.sum() + labels.sum())).item()


torch.set_num_threads(1)
torch.manual_seed(5)
glyphs = 2.0 * (torch.rand(N_GLYPHS, GLYPH, GLYPH) > 0.5).float()
train_set, val_set = make_images(1600, glyphs), make_images(400, glyphs)
loader = DataLoader(train_set, batch_size=40, shuffle=True)
model = GlyphNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)

for epoch in range(8):
    model.train()
    total = 0.0
    optimizer.zero_grad()
    for i, (images, labels) in enumerate(loader, start=1):
        loss = focal_loss(model(images), labels)
        (loss / ACCUMULATE).backward()
        total += loss.item()
        if i % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}  focal loss {total / len(loader):.4f}  val F1 {f1_score(model, val_set):.3f}")
