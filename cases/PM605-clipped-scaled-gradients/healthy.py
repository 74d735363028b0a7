"""Match two views of the same object (CLIP style) with two towers, two optimizers and one GradScaler."""

import torch
import torch.nn.functional as F
from torch import nn

OBJECT, VIEW_A, VIEW_B = 6, 24, 16


class Tower(nn.Module):
    def __init__(self, inputs: int, outputs: int = 16) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 64), nn.GELU(), nn.Linear(64, outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.normalize(self.layers(x), dim=1)


class Views:
    """Objects seen through two fixed random non-linear cameras."""

    def __init__(self) -> None:
        self.camera_a = torch.randn(OBJECT, VIEW_A) / OBJECT**0.5
        self.camera_b = torch.randn(OBJECT, VIEW_B) / OBJECT**0.5

    def sample(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        things = torch.randn(count, OBJECT)
        a = torch.tanh(things @ self.camera_a) + 0.1 * torch.randn(count, VIEW_A)
        b = torch.tanh(things @ self.camera_b) + 0.1 * torch.randn(count, VIEW_B)
        return a, b


def contrastive_loss(similarity: torch.Tensor) -> torch.Tensor:
    diagonal = torch.arange(len(similarity))
    return (F.cross_entropy(similarity, diagonal) + F.cross_entropy(similarity.t(), diagonal)) / 2


@torch.no_grad()
def retrieval(tower_a: Tower, tower_b: Tower, a: torch.Tensor, b: torch.Tensor) -> float:
    tower_a.eval()
    tower_b.eval()
    nearest = (tower_a(a) @ tower_b(b).t()).argmax(1)
    return (nearest == torch.arange(len(a))).float().mean().item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    views = Views()
    val_a, val_b = views.sample(128)
    tower_a, tower_b = Tower(VIEW_A), Tower(VIEW_B)
    optimizer_a = torch.optim.SGD(tower_a.parameters(), lr=0.5, momentum=0.9)
    optimizer_b = torch.optim.AdamW(tower_b.parameters(), lr=3e-3)
    scaler = torch.amp.GradScaler("cpu")
    weights = [*tower_a.parameters(), *tower_b.parameters()]

    for step in range(1, 301):
        tower_a.train()
        tower_b.train()
        a, b = views.sample(128)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            similarity = tower_a(a) @ tower_b(b).t()
        loss = contrastive_loss(similarity.float() / 0.1)

        optimizer_a.zero_grad()
        optimizer_b.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer_a)
        scaler.unscale_(optimizer_b)
        norm = nn.utils.clip_grad_norm_(weights, 0.5)
        scaler.step(optimizer_a)
        scaler.step(optimizer_b)
        scaler.update()
        if step % 50 == 0:
            print(
                f"step {step}: loss {loss.item():.3f}  gradient norm {norm:.3f}  "
                f"val retrieval {retrieval(tower_a, tower_b, val_a, val_b):.3f}"
            )


if __name__ == "__main__":
    main()
