"""A linear probe on a network that is itself still trained: the probe must not disturb it, hence detach()."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 8))
        self.decoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 20))
        self.probe = nn.Linear(8, 5)

    def forward(self, x):
        z = self.encoder(x)
        return self.decoder(z), self.probe(z.detach())


centres = 2 * torch.randn(5, 20)


def batch(n):
    y = torch.randint(5, (n,))
    return centres[y] + 0.7 * torch.randn(n, 20), y


model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(300):
    x, y = batch(64)
    reconstruction, logits = model(x)
    reconstruction_loss = F.mse_loss(reconstruction, x)
    probe_loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    (reconstruction_loss + probe_loss).backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, reconstruction_loss.item(), probe_loss.item())

model.eval()
with torch.no_grad():
    x, y = batch(1000)
    reconstruction, logits = model(x)
accuracy = (logits.argmax(1) == y).float().mean().item()
print("probe accuracy", accuracy, "error", F.mse_loss(reconstruction, x).item())
assert accuracy > 0.9
