"""Curriculum on sequence length: four stages, the task gets longer at each one."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


def batch(length, n=64):
    x = torch.randint(0, 2, (n, length))
    y = x.cumsum(1) % 2
    return x, y


class Parity(nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.emb = nn.Embedding(2, 8)
        self.gru = nn.GRU(8, h, batch_first=True)
        self.out = nn.Linear(h, 1)

    def forward(self, x):
        h, _ = self.gru(self.emb(x))
        return self.out(h).squeeze(-1)


model = Parity()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for length, steps in [(2, 100), (4, 100), (8, 150), (16, 150)]:
    for step in range(steps):
        x, y = batch(length)
        loss = F.binary_cross_entropy_with_logits(model(x), y.float())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        if step == 0 or step == steps - 1:
            print(f"length {length:2d} step {step:3d} loss {loss.item():.4f}")
with torch.no_grad():
    x, y = batch(24, 500)
    print(f"accuracy at length 24: {((model(x) > 0) == y.bool()).float().mean().item():.3f}")
