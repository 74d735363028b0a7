import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
torch.set_num_threads(1)

V, LEN, BOS = 14, 8, 1


def batch(n):
    src = torch.randint(2, V, (n, LEN))
    tgt = src.flip(1)
    inp = torch.cat([torch.full((n, 1), BOS), tgt[:, :-1]], 1)
    return src, inp, tgt


class Encoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.pos = nn.Embedding(LEN, d)
        self.mix = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d))

    def forward(self, s):
        e = self.emb(s) + self.pos(torch.arange(s.size(1)))
        return e + self.mix(e)


class Decoder(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.pos = nn.Embedding(LEN, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.out = nn.Linear(2 * d, V)

    def attend(self, h, mem):
        scores = self.q(h) @ self.k(mem).transpose(1, 2) / math.sqrt(h.size(-1))
        weights = F.softmax(scores, dim=0)
        return weights @ self.v(mem)

    def forward(self, inp, mem):
        h, _ = self.rnn(self.emb(inp) + self.pos(torch.arange(inp.size(1))))
        return self.out(torch.cat([h, self.attend(h, mem)], -1))


class Seq2Seq(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.encoder, self.decoder = Encoder(d), Decoder(d)

    def forward(self, src, inp):
        return self.decoder(inp, self.encoder(src))


model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(1, 601):
    model.train()
    src, inp, tgt = batch(64)
    logits = model(src, inp)
    loss = F.cross_entropy(logits.flatten(0, 1), tgt.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 100 == 0:
        model.eval()
        with torch.no_grad():
            s, i, t = batch(200)
            acc = torch.cat([(model(s[k:k + 1], i[k:k + 1]).argmax(-1) == t[k:k + 1]).float() for k in range(200)]).mean()
        print(f"step {step:4d} | loss {loss.item():.4f} | token acc {acc:.3f}")
