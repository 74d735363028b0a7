"""Networks that only pass gradients on: a soft prompt for a trained model, a perceptual loss, and GAN-like inversion."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class TinyModel(nn.Module):
    """Sums the numbers in the prompt and in the input, then squashes."""

    def __init__(self, d=16):
        super().__init__()
        self.embed = nn.Linear(1, d)
        self.mix = nn.TransformerEncoderLayer(d, 2, 32, dropout=0.0, batch_first=True)
        self.out = nn.Linear(d, 1)

    def forward(self, x, prompt=None):
        h = self.embed(x.unsqueeze(-1))
        if prompt is not None:
            h = torch.cat([prompt.expand(len(x), -1, -1), h], dim=1)
        return self.out(self.mix(h).mean(1)).squeeze(1)


model = TinyModel()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(120):
    x = torch.randn(64, 5)
    loss = F.mse_loss(model(x), x.mean(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("base model", loss.item())

# soft prompt: only the prompt is given to the optimizer
prompt = nn.Parameter(0.02 * torch.randn(1, 4, 16))
tuner = torch.optim.Adam([prompt], lr=3e-2)
first = None
for step in range(120):
    x = torch.randn(64, 5)
    loss = F.mse_loss(model(x, prompt), x.mean(1) + 0.5)
    tuner.zero_grad()
    loss.backward()
    tuner.step()
    first = first or loss.item()
print("prompt", first, loss.item())
assert loss < 0.4 * first

# perceptual loss: features of a fixed random net (its weights need no optimizer)
features = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU())
painter = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 144))
optimizer = torch.optim.Adam(painter.parameters(), lr=3e-3)
basis = torch.randn(4, 144)
first = None
for step in range(120):
    code = torch.randn(32, 4)
    picture = torch.tanh(code @ basis).view(-1, 1, 12, 12)
    painted = painter(code).view(-1, 1, 12, 12)
    with torch.no_grad():
        wanted = features(picture)
    loss = F.mse_loss(features(painted), wanted) + 0.1 * F.l1_loss(painted, picture)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    first = first or loss.item()
print("perceptual", first, loss.item())
assert loss < 0.5 * first

# inversion: find the code of a picture
painter.eval()
target = painter(torch.randn(1, 4)).detach()
code = torch.zeros(1, 4, requires_grad=True)
search = torch.optim.Adam([code], lr=0.1)
for step in range(80):
    loss = F.mse_loss(painter(code), target)
    search.zero_grad()
    loss.backward()
    search.step()
print("inversion", loss.item())
assert loss < 0.05
