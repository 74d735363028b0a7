"""Every loss is kept for a plot, and with it the graph that made it."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 4)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(4096, 32, device=device)
y = torch.sin(x[:, :4] * 2)
history = []
for _ in range(500):
    picked = torch.randint(0, 4096, (256,), device=device)
    loss = nn.functional.mse_loss(model(x[picked]), y[picked])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)  # <- PM703
print("mean of the last ten", (sum(history[-10:]) / 10).item())
