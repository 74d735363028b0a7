"""A small character model with its own attention."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog and the cat sat on the mat while it rained all day " * 30
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
BLOCK, D = 24, 32


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D, bias=False)
        self.proj = nn.Linear(D, D)
        self.register_buffer("mask", torch.triu(torch.ones(BLOCK, BLOCK), diagonal=2).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.qkv(x).chunk(3, -1)
        w = q @ k.transpose(1, 2) * D ** -0.5
        w = w.masked_fill(self.mask[:T, :T], float("-inf")).softmax(-1)
        return self.proj(w @ v)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2, self.att = nn.LayerNorm(D), nn.LayerNorm(D), Head()
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))

    def forward(self, x):
        x = x + self.att(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class CharLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(len(chars), D), nn.Embedding(BLOCK, D)
        self.blocks = nn.Sequential(Block(), Block())
        self.lm_head = nn.Linear(D, len(chars))

    def forward(self, x, targets=None):
        h = self.blocks(self.tok(x) + self.pos(torch.arange(x.shape[1])))
        logits = self.lm_head(h)
        return logits, None if targets is None else F.cross_entropy(logits.view(-1, len(chars)), targets.view(-1))


def get_batch(split):
    d = ids[: int(0.9 * len(ids))] if split == "train" else ids[int(0.9 * len(ids)):]
    ix = torch.randint(len(d) - BLOCK - 1, (24,))
    return torch.stack([d[i:i + BLOCK] for i in ix]), torch.stack([d[i + 1:i + BLOCK + 1] for i in ix])


model = CharLM()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
for it in range(160):
    x, y = get_batch("train")
    _, loss = model(x, y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 40 == 0:
        model.eval()
        with torch.no_grad():
            print(it, loss.item(), model(*get_batch("val"))[1].item())
        model.train()
