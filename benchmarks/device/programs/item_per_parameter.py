"""The norm of each gradient is read one by one, in every step."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 3)).to(
    device
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(4096, 64, device=device)
y = (x[:, :3] * 2).argmax(1)
norms = []
for _ in range(400):
    picked = torch.randint(0, 4096, (128,), device=device)
    loss = nn.functional.cross_entropy(model(x[picked]), y[picked])
    optimizer.zero_grad()
    loss.backward()
    norms.append(sum(p.grad.norm().item() ** 2 for p in model.parameters()) ** 0.5)  # <- PM706
    optimizer.step()
print("last norm", norms[-1])
