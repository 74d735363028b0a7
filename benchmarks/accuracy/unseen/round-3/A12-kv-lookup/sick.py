"""Key-value lookup with one attention layer: which value belongs to the queried key in this table?"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Lookup(torch.utils.data.IterableDataset):
    def __init__(self, n_keys, n_values, slots, seed, size):
        self.n_keys, self.n_values, self.slots = n_keys, n_values, slots
        self.seed, self.size = seed, size

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.size):
            keys = torch.randperm(self.n_keys, generator=g)[:self.slots]
            values = torch.randint(0, self.n_values, (self.slots,), generator=g)
            pick = torch.randint(0, self.slots, (1,), generator=g).item()
            yield keys, values, keys[pick], values[pick]


class CrossAttention(nn.Module):
    def __init__(self, dim, heads, dropout=0.25):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def split(self, t):
        b, n, d = t.shape
        return t.view(b, n, self.heads, d // self.heads).transpose(1, 2)

    def forward(self, query, memory):
        k, v = self.kv(memory).chunk(2, dim=-1)
        out = F.scaled_dot_product_attention(
            self.split(self.q(query)), self.split(k), self.split(v),
            dropout_p=self.dropout,
        )
        b, h, n, d = out.shape
        return self.proj(out.transpose(1, 2).reshape(b, n, h * d))


class LookupNet(nn.Module):
    def __init__(self, n_keys, n_values, dim=64, heads=1):
        super().__init__()
        self.key_emb = nn.Embedding(n_keys, dim)
        self.val_emb = nn.Embedding(n_values, dim)
        self.attn = CrossAttention(dim, heads)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim, n_values))

    def forward(self, keys, values, query):
        memory = self.key_emb(keys) + self.val_emb(values)
        q = self.key_emb(query).unsqueeze(1)
        return self.head(self.norm(self.attn(q, memory).squeeze(1)))


def evaluate(model, loader):
    model.eval()
    correct = count = 0
    nll = 0.0
    with torch.inference_mode():
        for keys, values, query, answer in loader:
            logits = model(keys, values, query)
            nll += F.cross_entropy(logits, answer, reduction="sum").item()
            correct += (logits.argmax(-1) == answer).sum().item()
            count += len(answer)
    return nll / count, correct / count


def main():
    torch.manual_seed(2)
    n_keys, n_values, slots = 30, 20, 10
    train = torch.utils.data.DataLoader(Lookup(n_keys, n_values, slots, 0, 24000), batch_size=64)
    test = torch.utils.data.DataLoader(Lookup(n_keys, n_values, slots, 1, 1500), batch_size=100)
    model = LookupNet(n_keys, n_values)
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    window = []
    for step, (keys, values, query, answer) in enumerate(train, 1):
        model.train()
        loss = F.cross_entropy(model(keys, values, query), answer)
        opt.zero_grad()
        loss.backward()
        opt.step()
        window.append(loss.item())
        if step % 75 == 0:
            nll, acc = evaluate(model, test)
            print(f"step {step:4d} train {sum(window) / len(window):.3f} (chance {math.log(n_values):.3f})  test nll {nll:.3f} acc {acc:.3f}")
            window.clear()


if __name__ == "__main__":
    main()
