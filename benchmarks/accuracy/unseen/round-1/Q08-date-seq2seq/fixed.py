import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
V, BOS, L = 11, 10, 5


def pairs(n):
    src = torch.randint(0, 10, (n, L))
    return src, src.flip(1)


class Seq2Seq(nn.Module):
    def __init__(self, h=64):
        super().__init__()
        self.src_emb = nn.Embedding(V, 24)
        self.tgt_emb = nn.Embedding(V, 24)
        self.encoder = nn.GRU(24, h, batch_first=True)
        self.decoder = nn.GRU(24, h, batch_first=True)
        self.out = nn.Linear(h, V)

    def forward(self, src, tgt):
        _, state = self.encoder(self.src_emb(src))
        start = torch.full((len(src), 1), BOS)
        dec_in = self.tgt_emb(torch.cat([start, tgt[:, :-1]], 1))
        hidden, state = self.decoder(dec_in, state)
        return self.out(hidden)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)

    def step(self, src, tgt):
        logits = self.model(src, tgt)
        loss = F.cross_entropy(logits.reshape(-1, V), tgt.reshape(-1))
        self.opt.zero_grad(set_to_none=True)
        loss.backward()
        self.opt.step()
        return loss.item()

    @torch.no_grad()
    def accuracy(self, src, tgt):
        return (self.model(src, tgt).argmax(-1) == tgt).float().mean().item()


src, tgt = pairs(2000)
vs, vt = pairs(300)
tr = Trainer(Seq2Seq(), 5e-3)
for epoch in range(8):
    for b in torch.randperm(2000).split(50):
        loss = tr.step(src[b], tgt[b])
    print(f"epoch {epoch} loss {loss:.3f} val token acc {tr.accuracy(vs, vt):.3f}")
