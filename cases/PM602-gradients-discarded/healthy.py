"""Sharpness-aware minimisation (two backward passes per update) on the wine data."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn


class SAM:
    """Climb to the worst point within `rho`, take the gradient there, descend from where we were."""

    def __init__(self, base: torch.optim.Optimizer, rho: float) -> None:
        self.base, self.rho = base, rho
        self.params = [p for group in base.param_groups for p in group["params"]]
        self.offsets: list[torch.Tensor] = []

    @torch.no_grad()
    def ascend(self) -> None:
        norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in self.params]))
        self.offsets = [p.grad * (self.rho / (norm + 1e-12)) for p in self.params]
        for p, offset in zip(self.params, self.offsets):
            p.add_(offset)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self) -> None:
        for p, offset in zip(self.params, self.offsets):
            p.sub_(offset)
        self.base.step()
        self.base.zero_grad()


def load_data() -> tuple[torch.Tensor, ...]:
    x, y = load_wine(return_X_y=True)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.3, stratify=y, random_state=1)
    mean, std = x_train.mean(0), x_train.std(0)
    scaled = [torch.tensor((part - mean) / std, dtype=torch.float32) for part in (x_train, x_val)]
    return (*scaled, torch.tensor(y_train), torch.tensor(y_val))


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    x_train, x_val, y_train, y_val = load_data()
    model = nn.Sequential(nn.Linear(13, 32), nn.Tanh(), nn.Linear(32, 3))
    sam = SAM(torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), rho=0.05)

    for epoch in range(20):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x_train)).split(31):
            x, y = x_train[rows], y_train[rows]
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            sam.ascend()
            F.cross_entropy(model(x), y).backward()
            sam.descend()
            total += loss.item() * len(rows)
        if (epoch + 1) % 5 == 0:
            model.eval()
            with torch.no_grad():
                logits = model(x_val)
            accuracy = (logits.argmax(1) == y_val).float().mean()
            print(
                f"epoch {epoch + 1}: train loss {total / len(x_train):.4f}  "
                f"val loss {F.cross_entropy(logits, y_val).item():.4f}  val accuracy {accuracy:.3f}"
            )


if __name__ == "__main__":
    main()
