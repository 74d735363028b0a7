"""Sum-of-digits modulo task: GRU classifier over padded token lists."""
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset


class Lists(Dataset):
    def __init__(self, n, seed):
        rng = random.Random(seed)
        self.items = []
        for _ in range(n):
            k = rng.randint(2, 6) if rng.random() < 0.93 else rng.randint(60, 80)
            toks = [rng.randint(1, 15) for _ in range(k)]
            self.items.append((toks, toks[-1] % 5))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        toks, label = self.items[i]
        return torch.tensor(toks), label


def collate(rows):
    seqs, labels = zip(*rows)
    lengths = torch.tensor([len(s) for s in seqs])
    return pad_sequence(seqs, batch_first=True), lengths, torch.tensor(labels)


class GRUClassifier(nn.Module):
    def __init__(self, vocab=16, dim=24, hidden=48, classes=5):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x, lengths):
        out, _ = self.gru(self.embedding(x))
        last = out[:, -1]
        return self.fc(last)


def main(cfg):
    torch.manual_seed(cfg.seed)
    train = DataLoader(Lists(1200, 0), batch_size=cfg.bs, shuffle=True, collate_fn=collate)
    val = DataLoader(Lists(300, 1), batch_size=cfg.bs, collate_fn=collate)
    net = GRUClassifier()
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    for epoch in range(cfg.epochs):
        net.train()
        losses = []
        for x, lengths, y in train:
            loss = F.cross_entropy(net(x, lengths), y)
            opt.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            losses.append(loss.item())
        net.eval()
        right = 0
        with torch.no_grad():
            for x, lengths, y in val:
                right += (net(x, lengths).argmax(-1) == y).sum().item()
        print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f} val acc {right / len(val.dataset):.3f}")


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--bs", type=int, default=40)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--seed", type=int, default=0)
    main(ap.parse_args())
