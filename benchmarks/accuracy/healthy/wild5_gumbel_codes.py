"""A discrete autoencoder with Gumbel-softmax codes and a temperature that falls as training goes on."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

CODES, CHOICES = 8, 8


class CodeAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, CODES * CHOICES))
        self.decoder = nn.Sequential(nn.Linear(CODES * CHOICES, 96), nn.ReLU(), nn.Linear(96, 64))

    def forward(self, x, temperature):
        logits = self.encoder(x).view(-1, CODES, CHOICES)
        code = F.gumbel_softmax(logits, tau=temperature, hard=not self.training, dim=-1)
        return self.decoder(code.flatten(1)), logits


def objective(out, x, logits):
    q = logits.softmax(-1)
    kl = (q * (q.clamp_min(1e-9).log() + math.log(CHOICES))).sum((1, 2))
    return (F.binary_cross_entropy_with_logits(out, x, reduction="none").sum(1) + kl).mean()


torch.manual_seed(18)
torch.set_num_threads(1)
x, _ = load_digits(return_X_y=True)
x = torch.tensor(x / 16, dtype=torch.float32)
x = x[torch.randperm(len(x))]
train, test = x[:1400], x[1400:]
model = CodeAutoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(1, 41):
    temperature = max(0.4, 1.5 * 0.95**epoch)
    model.train()
    for batch in train[torch.randperm(len(train))].split(64):
        out, logits = model(batch, temperature)
        loss = objective(out, batch, logits)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            out, _ = model(test, temperature)
            error = (out.sigmoid() - test).pow(2).mean()
        print(f"epoch {epoch} temperature {temperature:.2f} loss {loss.item():.2f} test error {error:.4f} (of the mean picture {(train.mean(0) - test).pow(2).mean():.4f})")
