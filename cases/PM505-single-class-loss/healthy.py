"""One-class spotter: a single presence logit plus a softmax over grid cells, in bf16 with a gradient scaler."""

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

SIZE, STRIDE = 16, 2
GRID = SIZE // STRIDE


class Spotter(nn.Module):
    """Presence of the only class, (batch, 1), and where it is, (batch, cells)."""

    def __init__(self, width: int = 16):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=STRIDE, padding=1),
            nn.ReLU(),
        )
        self.heatmap = nn.Conv2d(width, 1, 1)
        self.presence = nn.Linear(width, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = self.features(x)
        return self.presence(x.amax(dim=(2, 3))), self.heatmap(x).flatten(1)


def make_data(n: int) -> TensorDataset:
    images = 0.4 * torch.randn(n, 1, SIZE, SIZE)
    present = torch.rand(n) < 0.5
    row, col = torch.randint(GRID, (2, n))
    ring = torch.tensor([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    for i in present.nonzero().flatten().tolist():
        r = min(int(row[i]) * STRIDE, SIZE - 3)
        c = min(int(col[i]) * STRIDE, SIZE - 3)
        images[i, 0, r : r + 3, c : c + 3] += 1.5 * ring
    return TensorDataset(images, present.float().unsqueeze(1), row * GRID + col)


@torch.no_grad()
def evaluate(model: nn.Module, data: TensorDataset) -> tuple[float, float]:
    model.eval()
    images, present, cell = data.tensors
    presence, heatmap = model(images)
    found = ((presence > 0) == (present == 1)).float().mean()
    there = present.squeeze(1) == 1
    located = (heatmap[there].argmax(1) == cell[there]).float().mean()
    return found.item(), located.item()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--max-norm", type=float, default=2.0)
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(11)
    train_set, val_set = make_data(1200), make_data(400)
    loader = DataLoader(train_set, args.batch_size, shuffle=True)
    model = Spotter()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for images, present, cell in loader:
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                presence, heatmap = model(images)
                there = present.squeeze(1) == 1
                presence_loss = F.binary_cross_entropy_with_logits(presence, present)
                location_loss = F.cross_entropy(heatmap[there], cell[there])
                loss = presence_loss + location_loss
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
            scaler.step(optimizer)
            scaler.update()
            total += loss.item()
        found, located = evaluate(model, val_set)
        print(f"epoch {epoch}  loss {total / len(loader):.4f}  presence acc {found:.3f}  cell acc {located:.3f}")


if __name__ == "__main__":
    main()
