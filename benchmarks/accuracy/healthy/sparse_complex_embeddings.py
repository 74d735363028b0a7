"""Sparse gradients with SparseAdam beside Adam, and a complex-valued layer for phase retrieval."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)

# --- word2vec with negative sampling, sparse embeddings -------------------------------------------------------------
VOCAB = 200
centre, context = (nn.Embedding(VOCAB, 16, sparse=True) for _ in range(2))
nn.init.uniform_(centre.weight, -0.05, 0.05)
nn.init.zeros_(context.weight)
scale = nn.Parameter(torch.tensor(1.0))
sparse = torch.optim.SparseAdam([*centre.parameters(), *context.parameters()], lr=0.02)
dense = torch.optim.Adam([scale], lr=0.01)


def pairs(n):
    """Words of the same group of ten occur together."""
    group = torch.randint(VOCAB // 10, (n,))
    return group * 10 + torch.randint(10, (n,)), group * 10 + torch.randint(10, (n,)), torch.randint(VOCAB, (n, 5))


for step in range(250):
    word, friend, strangers = pairs(128)
    v = centre(word)
    positive = scale * (v * context(friend)).sum(1)
    negative = scale * torch.einsum("nd,nkd->nk", v, context(strangers))
    loss = -(F.logsigmoid(positive).mean() + F.logsigmoid(-negative).sum(1).mean())
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
    if step % 50 == 0:
        print("sgns", step, loss.item(), scale.item())
with torch.no_grad():
    similarity = centre.weight @ context.weight.T
    nearest = similarity.argmax(1) // 10
print("nearest context in the same group", (nearest == torch.arange(VOCAB) // 10).float().mean().item())
assert (nearest == torch.arange(VOCAB) // 10).float().mean() > 0.9

# --- a complex linear layer -------------------------------------------------------------------------------------------
true = torch.randn(6, 6, dtype=torch.cfloat)


class ComplexLinear(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(n, n, dtype=torch.cfloat))

    def forward(self, z):
        return z @ self.weight.T


layer = ComplexLinear(6)
optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
for step in range(250):
    z = torch.randn(64, 6, dtype=torch.cfloat)
    difference = layer(z) - z @ true.T
    loss = (difference * difference.conj()).real.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("complex", step, loss.item())
assert loss < 0.05
