"""Toy segmentation in float16 with loss scaling: accumulation, two optimizers, and a scale that must settle first."""

import torch
import torch.nn.functional as F
from torch import nn

SIZE, ACCUMULATE, UPDATES = 16, 2, 80


def make_discs(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A bright disc on a noisy background, and its mask."""
    centre = 4 + (SIZE - 8) * torch.rand(count, 2, 1, 1)
    radius = 2 + 2 * torch.rand(count, 1, 1)
    grid = torch.arange(SIZE, dtype=torch.float32)
    rows, columns = torch.meshgrid(grid, grid, indexing="ij")
    mask = ((rows - centre[:, 0]) ** 2 + (columns - centre[:, 1]) ** 2 < radius**2).float()
    return (mask + 0.6 * torch.randn(count, SIZE, SIZE) - 0.15).unsqueeze(1), mask.unsqueeze(1)


class Segmenter(nn.Module):
    def __init__(self, width: int = 12) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.decoder = nn.Sequential(
            nn.ConvTranspose2d(2 * width, width, 2, stride=2), nn.ReLU(), nn.Conv2d(width, 1, 3, padding=1)
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(image))


@torch.no_grad()
def overlap(model: Segmenter, image: torch.Tensor, mask: torch.Tensor) -> float:
    """Intersection over union."""
    model.eval()
    predicted, truth = model(image) > 0, mask > 0.5
    return ((predicted & truth).sum() / (predicted | truth).sum()).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_x, train_y = make_discs(512)
    val_x, val_y = make_discs(128)
    model = Segmenter()
    optimizers = [
        torch.optim.Adam(model.encoder.parameters(), lr=5e-3),
        torch.optim.Adam(model.decoder.parameters(), lr=5e-3),
    ]
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20, growth_interval=200)

    for update in range(1, UPDATES + 1):
        model.train()
        for rows in torch.randint(len(train_x), (ACCUMULATE, 16)):
            with torch.autocast("cpu", dtype=torch.float16):
                logits = model(train_x[rows])
                loss = F.binary_cross_entropy_with_logits(logits, train_y[rows])
            scaler.scale(loss / ACCUMULATE).backward()
        for optimizer in optimizers:
            scaler.step(optimizer)
        scaler.update()
        for optimizer in optimizers:
            optimizer.zero_grad()
        if update % 20 == 0 or update <= 4:
            print(
                f"update {update}: loss {loss.item():.4f}  scale {scaler.get_scale():.0f}  "
                f"val IoU {overlap(model, val_x, val_y):.3f}"
            )


if __name__ == "__main__":
    main()
