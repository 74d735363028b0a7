"""Sequence tagger with a linear-chain CRF loss."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
V, T, K = 30, 10, 4
x = torch.randint(1, V, (400, T))
y = x % K
lens = torch.randint(5, T + 1, (400,))
mask = torch.arange(T)[None] < lens[:, None]
x, y = x * mask, y * mask


class CRF(nn.Module):
    def __init__(self):
        super().__init__()
        self.trans = nn.Parameter(torch.zeros(K, K))

    def forward(self, em, tags, m):
        gold = (em.gather(2, tags[..., None]).squeeze(-1) * m).sum(1)
        gold = gold + (self.trans[tags[:, :-1], tags[:, 1:]] * m[:, 1:]).sum(1)
        alpha = em[:, 0]
        for t in range(1, em.size(1)):
            nxt = torch.logsumexp(alpha[:, :, None] + self.trans[None] + em[:, t, None], dim=1)
            alpha = torch.where(m[:, t, None], nxt, alpha)
        return (torch.logsumexp(alpha, 1) - gold).mean()


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 24)
        self.rnn = nn.LSTM(24, 24, batch_first=True, bidirectional=True)
        self.out = nn.Linear(48, K)
        self.crf = CRF()

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


net = Tagger()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
train = DataLoader(TensorDataset(x[:320], y[:320], mask[:320]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[320:], y[320:], mask[320:]), batch_size=40)
for epoch in range(6):
    net.train()
    for a, b, m in train:
        opt.zero_grad()
        loss = net.crf(net(a), b, m)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        ok = sum(((net(a).argmax(-1) == b) & m).sum().item() for a, b, m in val)
    print(epoch, loss.item(), ok / mask[320:].sum().item())
