import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
V, T, D = 12, 16, 32


def sequences(n):
    """each token follows from the two before it"""
    s = torch.randint(0, V, (n, T + 1))
    for t in range(2, T + 1):
        s[:, t] = (s[:, t - 1] + 2 * s[:, t - 2] + 1) % V
    return s


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.register_buffer("bias", torch.triu(torch.ones(T, T), diagonal=1).bool())

    def forward(self, x):
        t = x.shape[1]
        q, k, v = self.qkv(self.n1(x)).chunk(3, -1)
        att = q @ k.transpose(1, 2) / math.sqrt(D)
        att = att.masked_fill(self.bias[:t, :t], float("-inf")).softmax(-1)
        x = x + self.proj(att @ v)
        return x + self.mlp(self.n2(x))


class CharGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Parameter(torch.randn(T, D) * 0.1)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(D, V)

    def forward(self, ids):
        return self.head(self.blocks(self.tok(ids) + self.pos[:ids.shape[1]]))

    @torch.no_grad()
    def continue_from(self, ids, n):
        for _ in range(n):
            ids = torch.cat([ids, self(ids)[:, -1].argmax(-1, keepdim=True)], 1)
        return ids


gpt = CharGPT()
opt = torch.optim.AdamW(gpt.parameters(), lr=3e-3)
data, held_out = sequences(800), sequences(100)
for step in range(300):
    b = data[torch.randint(0, len(data), (32,))]
    loss = F.cross_entropy(gpt(b[:, :-1]).reshape(-1, V), b[:, 1:].reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 99:
        print("step", step + 1, "loss %.3f" % loss.item())
with torch.no_grad():
    val = F.cross_entropy(gpt(held_out[:, :-1]).reshape(-1, V), held_out[:, 1:].reshape(-1))
gen = gpt.continue_from(held_out[:, :6], 10)
print("val loss %.3f" % val.item(), "generated tokens right: %.3f" % (gen[:, 6:16] == held_out[:, 6:16]).float().mean().item())
