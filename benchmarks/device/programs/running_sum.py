"""The epoch's mean loss is summed up with its graphs."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Sequential(nn.Linear(32, 128), nn.Tanh(), nn.Linear(128, 4)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(4096, 32, device=device)
y = x[:, :4].abs().sqrt()
for epoch in range(4):
    total = 0.0
    for batch in torch.randperm(4096, device=device).split(32):
        loss = nn.functional.mse_loss(model(x[batch]), y[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + loss  # <- PM703
    print(f"epoch {epoch}: {float(total) / 128:.4f}")
