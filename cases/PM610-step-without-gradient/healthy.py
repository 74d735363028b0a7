"""Two tasks on one trunk with gradient surgery (PCGrad): gradients come from autograd.grad and are written by hand."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class TwoHeads(nn.Module):
    """Which digit is it, and how much ink was used?"""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(12, 24, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
        )
        self.digit = nn.Linear(96, 10)
        self.ink = nn.Linear(96, 1)

    def forward(self, image: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.trunk(image)
        return self.digit(features), self.ink(features).squeeze(1)


def project_conflicts(a: list[torch.Tensor], b: list[torch.Tensor]) -> list[torch.Tensor]:
    """Remove from each gradient what works against the other, then add them."""
    dot = sum((x * y).sum() for x, y in zip(a, b))
    if dot >= 0:
        return [x + y for x, y in zip(a, b)]
    norm_a, norm_b = (sum(x.square().sum() for x in g) + 1e-12 for g in (a, b))
    return [x - dot / norm_b * y + y - dot / norm_a * x for x, y in zip(a, b)]


@torch.no_grad()
def evaluate(model: TwoHeads, image: torch.Tensor, digit: torch.Tensor, ink: torch.Tensor) -> tuple[float, float]:
    model.eval()
    logits, predicted = model(image)
    return (logits.argmax(1) == digit).float().mean().item(), F.mse_loss(predicted, ink).item()


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    data = load_digits()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    mass = images.mean((1, 2, 3))
    dataset = TensorDataset(images, torch.tensor(data.target), (mass - 0.305) / 0.045)
    train_set, val_set = random_split(dataset, [1400, 397])
    loader = DataLoader(train_set, batch_size=50, shuffle=True)
    validation = next(iter(DataLoader(val_set, batch_size=len(val_set))))

    model = TwoHeads()
    params = list(model.parameters())
    optimizer = torch.optim.Adam(params, lr=3e-3)
    for epoch in range(1, 7):
        model.train()
        totals = torch.zeros(2)
        for image, digit, ink in loader:
            logits, predicted = model(image)
            losses = F.cross_entropy(logits, digit), F.mse_loss(predicted, ink)
            first = torch.autograd.grad(losses[0], params, retain_graph=True, materialize_grads=True)
            second = torch.autograd.grad(losses[1], params, materialize_grads=True)
            for p, gradient in zip(params, project_conflicts(first, second)):
                p.grad = gradient
            optimizer.step()
            totals += torch.stack(losses).detach() / len(loader)
        accuracy, error = evaluate(model, *validation)
        print(
            f"epoch {epoch}: digit loss {totals[0]:.3f}  ink loss {totals[1]:.3f}  "
            f"val accuracy {accuracy:.3f}  val ink mse {error:.3f}"
        )


if __name__ == "__main__":
    main()
