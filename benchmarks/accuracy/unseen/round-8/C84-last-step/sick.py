"""Language identification of made-up words of very different length."""
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset


@dataclass
class Settings:
    letters: int = 12
    languages: int = 4
    train_words: int = 1500
    val_words: int = 400
    emb: int = 16
    hidden: int = 32
    lr: float = 4e-3
    epochs: int = 6
    lengths: tuple = field(default=(4, 60))


class Words(Dataset):
    """Every language is a Markov chain over the same alphabet."""

    def __init__(self, cfg, n, chains, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            lang = int(rng.integers(cfg.languages))
            size = int(np.exp(rng.uniform(*np.log(cfg.lengths))))
            word = [int(rng.integers(cfg.letters))]
            while len(word) < size:
                word.append(int(rng.choice(cfg.letters, p=chains[lang][word[-1]])))
            self.items.append((torch.tensor(word) + 1, lang))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    words, langs = zip(*batch)
    lengths = torch.tensor([len(w) for w in words])
    return pad_sequence(words, batch_first=True), lengths, torch.tensor(langs)


class WordClassifier(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.letters + 1, cfg.emb, padding_idx=0)
        self.gru = nn.GRU(cfg.emb, cfg.hidden, batch_first=True)
        self.out = nn.Linear(cfg.hidden, cfg.languages)

    def forward(self, ids, lengths):
        x = self.emb(ids)
        states, _ = self.gru(x)
        return self.out(states[:, -1])


def evaluate(model, loader):
    model.eval()
    right = short_right = short = total = 0
    with torch.no_grad():
        for ids, lengths, langs in loader:
            ok = model(ids, lengths).argmax(1) == langs
            right += ok.sum().item()
            total += len(langs)
            is_short = lengths < 15
            short_right += ok[is_short].sum().item()
            short += is_short.sum().item()
    return right / total, short_right / short


def main(cfg=Settings()):
    torch.manual_seed(2)
    chains = np.random.default_rng(2).dirichlet(np.full(cfg.letters, 0.12), (cfg.languages, cfg.letters))
    train_loader = DataLoader(Words(cfg, cfg.train_words, chains, 10), 32, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(Words(cfg, cfg.val_words, chains, 11), 100, collate_fn=collate)
    model = WordClassifier(cfg)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        losses = []
        for ids, lengths, langs in train_loader:
            loss = nn.functional.cross_entropy(model(ids, lengths), langs)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            losses.append(loss.item())
        acc, short_acc = evaluate(model, val_loader)
        print(f"epoch {epoch} loss {np.mean(losses):.4f} val acc {acc:.3f} (short words {short_acc:.3f})")


if __name__ == "__main__":
    main()
