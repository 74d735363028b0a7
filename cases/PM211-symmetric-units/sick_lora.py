"""Adapt a wine classifier to a second laboratory with low-rank adapters; the pre-trained weights stay as they are."""

import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import Tensor, nn


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 4, alpha: float = 8.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.zeros(rank, base.in_features))  # <- PM211
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scaling = alpha / rank

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.scaling * (x @ self.lora_a.T @ self.lora_b.T)


class WineNet(nn.Module):
    def __init__(self, inputs: int, classes: int, hidden: int = 32):
        super().__init__()
        self.encoder = nn.Linear(inputs, hidden)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.gelu(self.encoder(x)))


def fit(model: nn.Module, train: tuple[Tensor, Tensor], val: tuple[Tensor, Tensor], epochs: int, lr: float) -> None:
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=lr)
    x, y = train
    for epoch in range(1, epochs + 1):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(16):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        if epoch % 5 == 0:
            model.eval()
            with torch.no_grad():
                accuracy = (model(val[0]).argmax(dim=1) == val[1]).float().mean().item()
            print(f"  epoch {epoch:2d}  train loss {total / len(x):.3f}  val accuracy {accuracy:.3f}")


torch.set_num_threads(1)
torch.manual_seed(0)
data, target = load_wine(return_X_y=True)
x_train, x_val, y_train, y_val = train_test_split(data, target, test_size=0.3, stratify=target, random_state=0)
mean, std = x_train.mean(axis=0), x_train.std(axis=0)
x_train, x_val = (torch.tensor((part - mean) / std, dtype=torch.float32) for part in (x_train, x_val))
y_train, y_val = torch.tensor(y_train), torch.tensor(y_val)
mixing = torch.linalg.qr(torch.randn(13, 13)).Q  # the second laboratory measures combinations of the quantities

model = WineNet(13, 3)
print("pre-training")
fit(model, (x_train, y_train), (x_val, y_val), epochs=15, lr=5e-3)
model.encoder, model.head = LoRALinear(model.encoder), LoRALinear(model.head)
print("adapting")
fit(model, (x_train @ mixing, y_train), (x_val @ mixing, y_val), epochs=20, lr=1e-2)
