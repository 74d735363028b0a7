import math
import random

import torch
import torch.nn as nn

PAD, CLS = 0, 1
VOCAB, N_QUEUES = 60, 4


def make_ticket(rnd):
    """A ticket is a few filler words and one product word; the product decides the queue."""
    queue = rnd.randrange(N_QUEUES)
    words = [rnd.randrange(20, VOCAB) for _ in range(rnd.randrange(4, 20))]
    words[rnd.randrange(len(words))] = 2 + queue * 4 + rnd.randrange(4)
    return [CLS] + words, queue


def collate(tickets):
    width = max(len(w) for w, _ in tickets)
    ids = torch.tensor([w + [PAD] * (width - len(w)) for w, _ in tickets])
    return {"ids": ids, "attention_mask": (ids != PAD).long(), "queue": torch.tensor([q for _, q in tickets])}


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, attention_mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        mask = attention_mask[:, None, None, :].bool()
        scores = scores.masked_fill(mask, -1e9)  # <- PM415
        out = (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d)
        return self.proj(out)


class Router(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.norm = nn.LayerNorm(dim)
        self.attention = SelfAttention(dim, heads)
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, N_QUEUES))

    def forward(self, ids, attention_mask):
        x = self.embed(ids)
        x = x + self.attention(self.norm(x), attention_mask)
        return self.head(x[:, 0])


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    rnd = random.Random(7)
    train = [make_ticket(rnd) for _ in range(1600)]
    val = collate([make_ticket(rnd) for _ in range(400)])
    model = Router()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(8):
        rnd.shuffle(train)
        model.train()
        for s in range(0, len(train), 40):
            batch = collate(train[s : s + 40])
            loss = nn.functional.cross_entropy(model(batch["ids"], batch["attention_mask"]), batch["queue"])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            pred = model(val["ids"], val["attention_mask"]).argmax(-1)
        print(f"epoch {epoch} loss {loss.item():.4f} val accuracy {(pred == val['queue']).float().mean():.3f}")


if __name__ == "__main__":
    main()
