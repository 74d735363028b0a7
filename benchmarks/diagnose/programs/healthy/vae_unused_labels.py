"""A variational autoencoder: the loader gives labels, too, which nobody needs."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 5, (1500,))
x = torch.sigmoid(2 * torch.randn(5, 64)[y] + 0.5 * torch.randn(1500, 64))
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 16))
        self.decoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64))

    def forward(self, x):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    for xb, _ in loader:
        out, mean, log_variance = model(xb)
        rebuilt = F.binary_cross_entropy_with_logits(out, xb, reduction="sum") / len(xb)
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        loss = rebuilt + divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
