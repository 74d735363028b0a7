"""Graph attention on a planted-partition graph; a handful of labelled nodes, the whole graph in every step."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
torch.set_num_threads(1)
n, k = 240, 4
label = torch.arange(n) % k
together = label[:, None] == label[None]
edge = torch.rand(n, n) < torch.where(together, 0.10, 0.015)
adjacency = torch.triu(edge, 1)
adjacency = adjacency | adjacency.T | torch.eye(n, dtype=torch.bool)
feature = torch.randn(n, 16) + 0.7 * F.one_hot(label, 16).float()


class GraphAttention(nn.Module):
    def __init__(self, d_in, d_out, heads, merge):
        super().__init__()
        self.heads, self.d_out, self.merge = heads, d_out, merge
        self.w = nn.Linear(d_in, heads * d_out, bias=False)
        self.left = nn.Parameter(0.1 * torch.randn(heads, d_out))
        self.right = nn.Parameter(0.1 * torch.randn(heads, d_out))

    def forward(self, x, adjacency):
        h = self.w(x).view(-1, self.heads, self.d_out)
        score = (h * self.left).sum(-1)[:, None] + (h * self.right).sum(-1)[None]
        score = F.leaky_relu(score, 0.2).masked_fill(~adjacency[:, :, None], float("-inf"))
        out = torch.einsum("ijh,jhd->ihd", score.softmax(dim=1), h)
        return out.mean(1) if self.merge else out.flatten(1)


class GAT(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = GraphAttention(16, 8, 4, merge=False), GraphAttention(32, k, 2, merge=True)
        self.drop = nn.Dropout(0.4)

    def forward(self, x, adjacency):
        return self.two(self.drop(F.elu(self.one(self.drop(x), adjacency))), adjacency)


model = GAT()
few = torch.cat([torch.where(label == c)[0][:8] for c in range(k)])
rest = torch.ones(n, dtype=torch.bool)
rest[few] = False
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3, weight_decay=5e-4)
for step in range(120):
    model.train()
    loss = F.cross_entropy(model(feature, adjacency)[few], label[few])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        model.eval()
        with torch.no_grad():
            right = (model(feature, adjacency).argmax(1) == label)[rest].float().mean()
        print(f"step {step + 1} loss {loss.item():.3f} accuracy on unlabelled nodes {right:.3f} (chance {1 / k})")
