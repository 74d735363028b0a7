"""Low-rank adaptation of a frozen digit classifier to rotated digits."""
import math

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 4, alpha: float = 8.0) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.scaling = alpha / r
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.empty(base.out_features, r))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.zeros_(self.lora_A)  # <- PM211
        nn.init.zeros_(self.lora_B)

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scaling * (x @ self.lora_A.T @ self.lora_B.T)


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc2(torch.relu(self.fc1(x)))


def fit(model: nn.Module, x: Tensor, y: Tensor, steps: int, lr: float) -> None:
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=lr)
    for step in range(steps):
        idx = torch.randint(len(x), (64,))
        loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            print(f"  step {step} loss {loss.item():.3f}")


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    model = Classifier()
    print("pretraining")
    fit(model, images.flatten(1), y, 120, 3e-3)
    model.fc1, model.fc2 = LoRALinear(model.fc1), LoRALinear(model.fc2)
    print("adapting")
    fit(model, images.rot90(1, (1, 2)).flatten(1), y, 160, 1e-2)


if __name__ == "__main__":
    main()
