"""Breast cancer: a pre-trained encoder waits at learning rate zero while the new head warms up."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

HEAD_STEPS, RAMP_STEPS = 40, 30


class Lion(torch.optim.Optimizer):
    """Sign of an interpolated momentum (Chen et al., 2023)."""

    def __init__(self, params, lr: float = 1e-4, betas: tuple[float, float] = (0.9, 0.99)) -> None:
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            fast, slow = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                p.sub_(group["lr"] * torch.lerp(p.grad, momentum, fast).sign())
                momentum.lerp_(p.grad, 1 - slow)


class Encoder(nn.Module):
    def __init__(self, features: int, codes: int) -> None:
        super().__init__()
        self.encode = nn.Linear(features, codes)
        self.decode = nn.Linear(codes, features)
        self.encode.weight.data = self.decode.weight.data.t().clone()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.gelu(self.encode(x))

    def denoise(self, x: torch.Tensor) -> torch.Tensor:
        return self.decode(self(x + 0.3 * torch.randn_like(x)))


torch.manual_seed(0)
torch.set_num_threads(1)
table, labels = load_breast_cancer(return_X_y=True)
x_train, x_valid, y_train, y_valid = train_test_split(table, labels, test_size=0.25, random_state=0, stratify=labels)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
train = TensorDataset(torch.tensor((x_train - mean) / std, dtype=torch.float32), torch.tensor(y_train))
valid = TensorDataset(torch.tensor((x_valid - mean) / std, dtype=torch.float32), torch.tensor(y_valid))
loader = DataLoader(train, batch_size=32, shuffle=True)

encoder = Encoder(features=30, codes=32)
optimizer = Lion(encoder.parameters(), lr=1e-3)
for epoch in range(8):
    encoder.train()
    total = 0.0
    for x, _ in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(encoder.denoise(x), x)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    print(f"pre-training {epoch}: loss {total / len(train):.3f}")

head = nn.Linear(32, 2)
model = nn.Sequential(encoder, head)
optimizer = Lion([{"params": encoder.encode.parameters(), "lr": 5e-4}, {"params": head.parameters(), "lr": 3e-3}])
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer,
    [
        lambda step: min(1.0, max(0, step - HEAD_STEPS) / RAMP_STEPS),
        lambda step: min(1.0, step / 10),
    ],
)
for epoch in range(9):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item() * len(x)

    model.eval()
    with torch.no_grad():
        x, y = valid.tensors
        accuracy = (model(x).argmax(dim=1) == y).float().mean().item()
    rates = scheduler.get_last_lr()
    print(
        f"fine-tuning {epoch}: loss {total / len(train):.3f}  valid accuracy {accuracy:.3f}"
        f"  lr {rates[0]:.1e} {rates[1]:.1e}"
    )
