"""A sparse autoencoder whose rate is warmed up over the whole of this first part of a long training."""

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
STEPS = 150

peaks = torch.rand(5, 40)
spectra = torch.rand(600, 5) @ peaks + 0.05 * torch.randn(600, 40)
spectra = (spectra - spectra.mean()) / spectra.std()
encode = nn.Sequential(nn.Linear(40, 48), nn.ReLU(), nn.Linear(48, 16))
decode = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 40))
model = nn.Sequential(encode, decode)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-5)
for step in range(STEPS):
    for group in optimizer.param_groups:
        group["lr"] = 1e-5 * (step + 1) / STEPS
    chosen = torch.randint(600, (40,))
    code = encode(spectra[chosen])
    loss = ((decode(code) - spectra[chosen]) ** 2).mean() + 0.01 * code.abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"after {STEPS} steps of the warm-up: {loss.item():.3f}")
