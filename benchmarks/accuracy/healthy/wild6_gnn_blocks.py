"""Two-layer graph convolution on a stochastic block model, transductive, few labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
torch.set_num_threads(1)
N, K = 300, 3
block = torch.arange(N) % K
prob = torch.where(block[:, None] == block[None], 0.08, 0.012)
adj = (torch.rand(N, N) < prob).float().triu(1)
adj = adj + adj.t() + torch.eye(N)
deg = adj.sum(1)
norm = (deg[:, None] * deg[None]).rsqrt() * adj
a_hat = norm.to_sparse()
feats = F.one_hot(block, K).float() @ torch.randn(K, 16) * 0.6 + torch.randn(N, 16)

order = torch.randperm(N)
train, val, test = order[:45], order[45:120], order[120:]


class GCN(nn.Module):
    def __init__(self, d, h, k):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d, h), nn.Linear(h, k)
        self.drop = nn.Dropout(0.4)

    def forward(self, x, a):
        x = torch.sparse.mm(a, self.w1(self.drop(x))).relu()
        return torch.sparse.mm(a, self.w2(self.drop(x)))


model = GCN(16, 32, K)
opt = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)
best, kept = 0.0, None
for epoch in range(200):
    model.train()
    out = model(feats, a_hat)
    loss = F.cross_entropy(out[train], block[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        pred = model(feats, a_hat).argmax(1)
    acc = (pred[val] == block[val]).float().mean().item()
    if acc > best:
        best, kept = acc, {k: v.clone() for k, v in model.state_dict().items()}
    if epoch % 40 == 39:
        print(f"epoch {epoch + 1}: loss {loss.item():.3f} val {acc:.3f}")
model.load_state_dict(kept)
model.eval()
with torch.no_grad():
    print(f"test accuracy {(model(feats, a_hat).argmax(1)[test] == block[test]).float().mean():.3f}")
