"""Two losses that are scaled each by itself, and a penalty that goes back after the gradients were unscaled."""

import torch
import torch.nn.functional as F
from torch import nn

FEATURES, EPOCHS = 12, 8


class Twofold(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(FEATURES, width), nn.ReLU())
        self.kind = nn.Linear(width, 3)
        self.size = nn.Linear(width, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        seen = self.trunk(x)
        return self.kind(seen), self.size(seen).squeeze(1)


def penalty(model: nn.Module) -> torch.Tensor:
    return 1e-4 * sum((p**2).sum() for p in model.parameters() if p.dim() > 1)


def main() -> None:
    torch.manual_seed(1)
    torch.set_num_threads(1)
    x = torch.randn(1200, FEATURES)
    kind = (x[:, 0] > 0.4).long() + (x[:, 1] > 0).long()
    size = torch.sin(x[:, 2]) + 0.1 * torch.randn(len(x))
    model = Twofold()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    for epoch in range(EPOCHS):
        for rows in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits, guess = model(x[rows])
                first = F.cross_entropy(logits.float(), kind[rows])
                second = F.mse_loss(guess.float(), size[rows])
            scaler.scale(first).backward(retain_graph=True)
            (scaler.scale(second) * 0.5).backward()
            scaler.unscale_(optimizer)
            penalty(model).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
        print(f"epoch {epoch}: kind {first.item():.3f}, size {second.item():.3f}")


if __name__ == "__main__":
    main()
