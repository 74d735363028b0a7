"""LoRA fine-tuning: the base is frozen, one factor starts at zero, and adapters are saved and loaded alone with strict=False."""
import os
import tempfile

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        self.lora_a = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.lora_a.T) @ self.lora_b.T


class Net(nn.Module):
    def __init__(self, n_in=12, width=64):
        super().__init__()
        self.fc1, self.fc2, self.out = nn.Linear(n_in, width), nn.Linear(width, width), nn.Linear(width, 1)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        return self.out(torch.relu(self.fc2(h))).squeeze(-1)


def add_adapters(model):
    for p in model.parameters():
        p.requires_grad_(False)
    model.fc1, model.fc2, model.out = LoRALinear(model.fc1), LoRALinear(model.fc2), LoRALinear(model.out, rank=1)
    return model


def domain(n, seed, tilt):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 12))
    w = np.linspace(-1, 1, 12)
    y = np.tanh(x @ w) + (0.3 + tilt) * x[:, 0] * (x[:, 1] > 0) + tilt * x[:, 2] + rng.normal(0, 0.1, n)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32))


@torch.no_grad()
def mse(model, data):
    model.eval()
    x, y = data.tensors
    return nn.functional.mse_loss(model(x), y).item()


def fit(model, data, val, epochs, lr, tag):
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=lr)
    loader = DataLoader(data, batch_size=50, shuffle=True)
    for epoch in range(epochs):
        model.train()
        total = n = 0
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(y)
            n += len(y)
        print(f"[{tag}] epoch {epoch:2d} train {total / n:.4f} val {mse(model, val):.4f}")


def main():
    torch.manual_seed(4)
    base = Net()
    fit(base, domain(3000, 1, 0.0), domain(500, 2, 0.0), epochs=10, lr=2e-3, tag="base")
    base_state = {k: v.clone() for k, v in base.state_dict().items()}
    target_train, target_val = domain(1500, 3, 0.6), domain(500, 4, 0.6)
    print(f"target mse before adapting {mse(base, target_val):.4f}")
    tuned = add_adapters(base)
    fit(tuned, target_train, target_val, epochs=15, lr=5e-3, tag="lora")
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "adapter.pt")
        torch.save({k: v for k, v in tuned.state_dict().items() if "lora_" in k}, path)
        served = Net()
        served.load_state_dict(base_state)
        served = add_adapters(served)
        result = served.load_state_dict(torch.load(path), strict=False)
        assert not result.unexpected_keys
        print(f"served base+adapter mse {mse(served, target_val):.4f} (trained {mse(tuned, target_val):.4f})")


if __name__ == "__main__":
    main()
