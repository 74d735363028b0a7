"""minimal character-level GPT on arithmetic strings"""
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1337)
batch_size, block_size, n_embd, n_head, n_layer = 48, 12, 48, 4, 2
max_iters, eval_interval, learning_rate = 400, 100, 3e-3

chars = "0123456789+=\n"
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}


def sample_line(g):
    a, b = torch.randint(0, 10, (2,), generator=g).tolist()
    return f"{a}+{b}={a + b:02d}\n"


def corpus(n, seed):
    g = torch.Generator().manual_seed(seed)
    text = "".join(sample_line(g) for _ in range(n))
    return torch.tensor([stoi[c] for c in text])


train_data, val_data = corpus(3000, 0), corpus(300, 1)


def get_batch(split):
    data = train_data if split == "train" else val_data
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([data[i:i + block_size] for i in ix])
    y = torch.stack([data[i + 1:i + block_size + 1] for i in ix])
    return x, y


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.proj = nn.Linear(n_embd, n_embd)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = [t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in self.qkv(x).chunk(3, -1)]
        wei = q @ k.transpose(-2, -1) / math.sqrt(C // n_head)
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return self.proj((wei @ v).transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.sa = Attention()
        self.ff = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.sa(self.ln1(x))
        return x + self.ff(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(len(chars), n_embd)
        self.pos = nn.Embedding(block_size, n_embd)
        self.blocks = nn.Sequential(*[Block() for _ in range(n_layer)])
        self.ln = nn.LayerNorm(n_embd)
        self.head = nn.Linear(n_embd, len(chars))

    def forward(self, idx, targets=None):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        logits = self.head(self.ln(self.blocks(x)))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss

    @torch.no_grad()
    def generate(self, idx, n):
        for _ in range(n):
            logits, _ = self(idx[:, -block_size:])
            idx = torch.cat([idx, logits[:, -1].argmax(-1, keepdim=True)], 1)
        return idx


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
for it in range(max_iters):
    xb, yb = get_batch("train")
    _, loss = model(xb, yb)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if (it + 1) % eval_interval == 0:
        model.eval()
        with torch.no_grad():
            vl = sum(model(*get_batch("val"))[1].item() for _ in range(5)) / 5
        model.train()
        print(f"step {it + 1}: train {loss.item():.4f} val {vl:.4f}")

model.eval()
right = 0
for a in range(10):
    for b in range(10):
        prompt = torch.tensor([[stoi[c] for c in f"\n{a}+{b}="]])
        out = model.generate(prompt, 2)[0, -2:].tolist()
        right += "".join(itos[i] for i in out) == f"{a + b:02d}"
print(f"sums answered correctly: {right}/100")
