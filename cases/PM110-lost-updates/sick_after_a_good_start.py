"""Learn a smooth function from scratch in bfloat16: the first steps are large enough, the later ones are lost."""

import torch
from torch import Tensor, nn

torch.set_num_threads(1)
torch.manual_seed(0)


def wave(x: Tensor) -> Tensor:
    return torch.sin(2 * x[:, :1]) * x[:, 1:2] + 0.5 * x[:, 2:3] ** 2 - 0.5


x, unseen = torch.randn(1600, 6), torch.randn(400, 6)
y, unseen_y = wave(x), wave(unseen)
model = nn.Sequential(nn.Linear(6, 80), nn.SiLU(), nn.Linear(80, 80), nn.SiLU(), nn.Linear(80, 1))
model = model.bfloat16()  # <- PM110
optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)
for epoch in range(40):
    model.train()
    for rows in torch.randperm(len(x)).split(80):
        loss = (model(x[rows].bfloat16()).float() - y[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            error = (model(unseen.bfloat16()).float() - unseen_y).square().mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, unseen {error.item():.4f}")
