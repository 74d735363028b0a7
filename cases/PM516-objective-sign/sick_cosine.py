"""A small encoder learns to point where a large one does; the cosine between the two is the loss."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)
large = nn.Sequential(nn.Linear(20, 64), nn.Tanh(), nn.Linear(64, 12)).requires_grad_(False)
small = nn.Sequential(nn.Linear(20, 24), nn.ReLU(), nn.Linear(24, 12))
loader = DataLoader(TensorDataset(torch.randn(800, 20)), batch_size=40, shuffle=True)
optimizer = torch.optim.Adam(small.parameters(), lr=3e-3)
for epoch in range(5):
    for (x,) in loader:
        with torch.no_grad():
            wanted = large(x)
        answer = small(x)
        loss = (F.normalize(answer, dim=1) * F.normalize(wanted, dim=1)).sum(dim=1).mean()  # <- PM516
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.3f}")
