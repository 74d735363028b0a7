import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(1)
torch.manual_seed(1)

VOCAB, LEN = 24, 12
BOS = VOCAB
config = dict(emb=32, hidden=64, batch=64, steps=300, lr=4e-3)


def make_pairs(n, gen):
    """Source: random codes. Target: the codes backwards, every odd code replaced by its partner."""
    src = torch.randint(0, VOCAB, (n, LEN), generator=gen)
    tgt = src.flip(1)
    tgt = torch.where(tgt % 2 == 1, (tgt + 6) % VOCAB, tgt)
    return src, tgt


class Encoder(nn.Module):
    def __init__(self, emb, hidden):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, emb)
        self.pos = nn.Parameter(torch.randn(LEN, emb) * 0.1)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)

    def forward(self, src):
        return self.rnn(self.tok(src) + self.pos)


class Attention(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.mix = nn.Linear(2 * hidden, hidden)

    def forward(self, states, memory):
        scores = self.query(states) @ memory.transpose(1, 2) / math.sqrt(memory.size(-1))
        weights = F.softmax(scores, dim=0)
        context = weights @ memory
        return torch.tanh(self.mix(torch.cat([states, context], dim=-1)))


class Decoder(nn.Module):
    def __init__(self, emb, hidden):
        super().__init__()
        self.tok = nn.Embedding(VOCAB + 1, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.attn = Attention(hidden)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, inp, state, memory):
        h, state = self.rnn(self.tok(inp), state)
        return self.out(self.attn(h, memory)), state


class Seq2Seq(nn.Module):
    def __init__(self, emb, hidden):
        super().__init__()
        self.encoder = Encoder(emb, hidden)
        self.decoder = Decoder(emb, hidden)

    def forward(self, src, tgt):
        memory, state = self.encoder(src)
        start = torch.full((len(src), 1), BOS)
        logits, _ = self.decoder(torch.cat([start, tgt[:, :-1]], 1), state, memory)
        return logits

    @torch.no_grad()
    def generate(self, src):
        memory, state = self.encoder(src)
        token, out = torch.full((len(src), 1), BOS), []
        for _ in range(LEN):
            logits, state = self.decoder(token, state, memory)
            token = logits.argmax(-1)
            out.append(token)
        return torch.cat(out, 1)


def main():
    gen = torch.Generator().manual_seed(10)
    src, tgt = make_pairs(8000, gen)
    val_src, val_tgt = make_pairs(400, gen)
    model = Seq2Seq(config["emb"], config["hidden"])
    opt = torch.optim.Adam(model.parameters(), lr=config["lr"])
    avg = 0.0
    for step in range(1, config["steps"] + 1):
        model.train()
        idx = torch.randint(0, len(src), (config["batch"],), generator=gen)
        logits = model(src[idx], tgt[idx])
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), tgt[idx].reshape(-1))
        opt.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        avg += loss.item()
        if step % 50 == 0:
            model.eval()
            with torch.no_grad():
                logits = model(val_src, val_tgt)
                val = F.cross_entropy(logits.reshape(-1, VOCAB), val_tgt.reshape(-1)).item()
            out = model.generate(val_src)
            tok = (out == val_tgt).float().mean().item()
            seq = (out == val_tgt).all(1).float().mean().item()
            print(f"step {step} loss {avg / 50:.4f} val {val:.4f} token acc {tok:.4f} sequence acc {seq:.4f}")
            avg = 0.0


if __name__ == "__main__":
    main()
