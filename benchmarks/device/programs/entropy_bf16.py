"""A policy with an entropy bonus under bfloat16."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 6)

    def forward(self, x):
        return self.head(self.body(x))


def entropy(p):
    return -(p * p.log()).sum(-1).mean()  # <- PM101


policy = Policy().to(device)
optimizer = torch.optim.AdamW(policy.parameters(), lr=3e-3)
states = torch.randn(2048, 16, device=device)
best = (states[:, :6] * 3).argmax(1)
for step in range(400):
    picked = torch.randint(0, 2048, (128,), device=device)
    x, y = states[picked], best[picked]
    if step > 150:
        x = x * (1 + 0.5 * (step - 150))
    with torch.autocast(device.type, torch.bfloat16):
        logits = policy(x)
        p = F.softmax(logits, -1).to(torch.bfloat16)
        loss = F.cross_entropy(logits.float(), y) - 0.01 * entropy(p)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
