import torch
from torch import nn

torch.manual_seed(3)
torch.set_num_threads(1)

N, C = 300, 5
block = torch.randint(0, C, (N,))
prob = torch.where(block[:, None] == block[None], 0.16, 0.015)
adj = (torch.rand(N, N) < prob).float().triu(1)
adj = adj + adj.T + torch.eye(N)
deg = adj.sum(1).rsqrt()
a_hat = deg[:, None] * adj * deg[None]
feat = torch.randn(N, 20) + 0.3 * nn.functional.one_hot(block, 20).float()
perm = torch.randperm(N)
tr, va = perm[:120], perm[120:]


class GCN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.w1, self.w2 = nn.Linear(i, h), nn.Linear(h, o)
        self.drop = nn.Dropout(0.3)

    def forward(self, x, a):
        return self.w2(a @ self.drop(torch.relu(self.w1(a @ x))))


def accuracy(out, idx):
    return (out[idx].argmax(1) == block[idx]).float().mean().item()


gcn = GCN(20, 32, C)
optimizer = torch.optim.Adam(gcn.parameters(), lr=1e-2)
lr_ctl = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.1, patience=10, min_lr=2e-5)
for epoch in range(90):
    gcn.train()
    loss = nn.functional.cross_entropy(gcn(feat, a_hat)[tr], block[tr])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    gcn.eval()
    with torch.no_grad():
        acc = accuracy(gcn(feat, a_hat), va)
    lr_ctl.step(acc)
    if epoch % 30 == 29:
        print(f"{epoch + 1:4d} loss {loss.item():.3f} val {acc:.3f} lr {optimizer.param_groups[0]['lr']:.1e}")
