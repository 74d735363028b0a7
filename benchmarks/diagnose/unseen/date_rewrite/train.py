import random
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
CHARS = ["<pad>", "<s>", "</s>"] + sorted(set("".join(MONTHS) + "0123456789 ,-"))
C2I = {c: i for i, c in enumerate(CHARS)}


def make_pair(r):
    d, m, y = r.randint(1, 28), r.randint(1, 12), r.randint(0, 99)
    src = r.choice([f"{d} {MONTHS[m - 1]} {y:02d}", f"{MONTHS[m - 1]} {d}, {y:02d}"])
    return src, f"{y:02d}-{m:02d}-{d:02d}"


class Dates(Dataset):
    def __init__(self, n, seed):
        r = random.Random(seed)
        self.pairs = [make_pair(r) for _ in range(n)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        s, t = self.pairs[i]
        src = [C2I[c] for c in s.rjust(10)]
        tgt = [1] + [C2I[c] for c in t] + [2]
        return torch.tensor(src), torch.tensor(tgt)


class Seq2Seq(nn.Module):
    def __init__(self, vocab, emb=20, hid=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.encoder = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hid, 2 * hid)
        self.decoder = nn.GRU(emb, 2 * hid, batch_first=True)
        self.out = nn.Linear(2 * hid, vocab)

    def encode(self, src):
        _, h = self.encoder(self.emb(src))
        h = h.reshape(src.size(0), -1)
        return torch.tanh(self.bridge(h)).unsqueeze(0)

    def forward(self, src, tgt_in):
        y, _ = self.decoder(self.emb(tgt_in), self.encode(src))
        return self.out(y)

    @torch.no_grad()
    def greedy(self, src, steps):
        h = self.encode(src)
        tok = torch.ones(src.size(0), 1, dtype=torch.long)
        res = []
        for _ in range(steps):
            y, h = self.decoder(self.emb(tok), h)
            tok = self.out(y).argmax(-1)
            res.append(tok)
        return torch.cat(res, 1)


class Runner:
    def __init__(self, model, train, val, lr):
        self.model, self.train_dl, self.val_dl = model, train, val
        self.opt = torch.optim.Adam(model.parameters(), lr=lr)
        self.crit = nn.CrossEntropyLoss()

    def fit(self, epochs):
        for e in range(epochs):
            self.model.train()
            total = 0.0
            for src, tgt in self.train_dl:
                logits = self.model(src, tgt[:, :-1])
                loss = self.crit(logits.flatten(0, 1), tgt[:, 1:].flatten())
                self.opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                total += loss.item()
            print(f"epoch {e} loss {total / len(self.train_dl):.4f} val_char_acc {self.validate():.4f}")

    def validate(self):
        self.model.eval()
        hit = n = 0
        for src, tgt in self.val_dl:
            p = self.model.greedy(src, tgt.size(1) - 1)
            hit += (p[:, :8] == tgt[:, 1:9]).sum().item()
            n += p[:, :8].numel()
        return hit / n


if __name__ == "__main__":
    torch.manual_seed(1)
    runner = Runner(Seq2Seq(len(CHARS)), DataLoader(Dates(2000, 1), 50, shuffle=True), DataLoader(Dates(400, 2), 100), 8e-3)
    runner.fit(7)
