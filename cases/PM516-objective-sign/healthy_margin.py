"""Embeddings of noisy signatures: two of one hand should be nearer to each other than to one of another hand."""

import torch
from torch import Tensor, nn

HANDS, WIDTH = 20, 24

torch.manual_seed(0)
torch.set_num_threads(1)
habits = torch.randn(HANDS, WIDTH)


def signatures(hand: Tensor) -> Tensor:
    return habits[hand] + 0.9 * torch.randn(len(hand), WIDTH)


def apart(a: Tensor, b: Tensor) -> Tensor:
    return (a - b).pow(2).sum(1)


model = nn.Sequential(nn.Linear(WIDTH, 48), nn.ReLU(), nn.Linear(48, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(150):
    hand = torch.randint(0, HANDS, (64,))
    other = (hand + torch.randint(1, HANDS, (64,))) % HANDS
    anchor = model(signatures(hand))
    d_pos, d_neg = apart(anchor, model(signatures(hand))), apart(anchor, model(signatures(other)))
    loss = torch.clamp(0.5 + d_pos - d_neg, min=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step + 1}  loss {loss.item():.3f}  in order {(d_pos < d_neg).float().mean().item():.2f}")
