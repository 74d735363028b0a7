import numpy as np
import torch
import torch.nn as nn


class Vocab:
    def __init__(self, words):
        self.itos = ["<cls>", "<pad>", "<unk>"] + list(words)
        self.stoi = {w: i for i, w in enumerate(self.itos)}
        self.pad_id = self.stoi["<pad>"]

    def encode(self, words, length):
        ids = [0] + [self.stoi.get(w, 2) for w in words]
        return ids[:length] + [self.pad_id] * (length - len(ids))


def recipes(n, rng):
    sweet = ["sugar", "honey", "cream", "vanilla"]
    salty = ["salt", "onion", "garlic", "pepper"]
    rest = ["bowl", "stir", "heat", "minute", "cup", "spoon", "serve", "cold", "warm", "mix"]
    out = []
    for _ in range(n):
        k = int(rng.integers(4, 8)) if rng.random() < 0.85 else int(rng.integers(40, 60))
        a, b = int(rng.integers(0, 3)), int(rng.integers(0, 3))
        if a == b:
            a += 1
        words = list(rng.choice(sweet, a)) + list(rng.choice(salty, b)) + list(rng.choice(rest, k))
        rng.shuffle(words)
        out.append((words, int(a > b)))
    return out


class Encoder(nn.Module):
    def __init__(self, size, pad_id, dim=32, length=64):
        super().__init__()
        self.pad_id = pad_id
        self.tok = nn.Embedding(size, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.1, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        attention_mask = ids != 0  # <- PM415
        h = self.enc(self.tok(ids), src_key_padding_mask=~attention_mask)
        w = attention_mask.unsqueeze(-1).float()
        return self.head((h * w).sum(1) / w.sum(1))


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    data = recipes(1400, rng)
    vocab = Vocab(sorted({w for words, _ in data for w in words}))
    ids = torch.tensor([vocab.encode(w, 64) for w, _ in data])
    y = torch.tensor([t for _, t in data])
    model = Encoder(len(vocab.itos), vocab.pad_id)
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4)
    for epoch in range(3):
        model.train()
        for b in torch.randperm(1000).split(32):
            loss = nn.functional.cross_entropy(model(ids[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(ids[1000:]).argmax(1) == y[1000:]).float().mean()
        print(f"epoch {epoch + 1} loss {loss.item():.3f} validation accuracy {acc:.3f}")


main()
