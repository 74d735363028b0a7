"""Label attention on F.scaled_dot_product_attention."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
V, L = 40, 16


def batch(n):
    n_tok = torch.randint(4, L - 1, (n,))
    ids = torch.randint(1, V, (n, L))
    ids[torch.arange(L)[None] >= n_tok[:, None]] = 0
    return ids, ((ids < V // 2) & (ids > 0)).sum(1).gt(n_tok / 2).long()


class LabelAttention(nn.Module):
    def __init__(self, d=32, classes=2):
        super().__init__()
        self.emb = nn.Embedding(V, d, padding_idx=0)
        self.labels = nn.Parameter(torch.randn(classes, d) * 0.2)
        self.k, self.v, self.score = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, 1)

    def forward(self, ids):
        h = self.emb(ids)
        q = self.labels.expand(len(ids), 1, -1, -1)
        mask = (ids != 0)[:, None, None, :]
        out = F.scaled_dot_product_attention(q, self.k(h)[:, None], self.v(h)[:, None], attn_mask=mask)
        return self.score(torch.tanh(out[:, 0])).squeeze(-1)


model = LabelAttention()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(150):
    ids, y = batch(32)
    loss = F.cross_entropy(model(ids), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 49:
        model.eval()
        with torch.no_grad():
            a, b = batch(200)
            print(step, loss.item(), (model(a).argmax(1) == b).float().mean().item())
        model.train()
