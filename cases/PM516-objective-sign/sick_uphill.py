"""Sign descent as an optimizer of one's own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SignDescent(torch.optim.Optimizer):
    def __init__(self, parameters, lr: float = 1e-3) -> None:
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=group["lr"])


torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(800, 12)
y = (x[:, :3].sum(1, keepdim=True) + 0.1 * torch.randn(800, 1)).tanh()
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = SignDescent(model.parameters(), lr=2e-4)  # <- PM516
for epoch in range(5):
    for features, target in loader:
        loss = ((model(features) - target) ** 2).mean() + 1e-4 * sum(p.square().sum() for p in model.parameters())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
