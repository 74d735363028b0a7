"""Reverse a sequence: GRU encoder and decoder with teacher forcing."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PAD, BOS, EOS = 0, 1, 2


class Reverse(Dataset):
    def __init__(self, n, symbols=8, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.items = [torch.randint(3, 3 + symbols, (int(torch.randint(3, 6, (1,), generator=g)),), generator=g)
                      for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        s = self.items[i]
        return s, torch.cat([torch.tensor([BOS]), s.flip(0), torch.tensor([EOS])])


def collate(batch):
    src, tgt = zip(*batch)
    pad = lambda xs: nn.utils.rnn.pad_sequence(xs, batch_first=True, padding_value=PAD)
    return pad(src), pad(tgt)


class Seq2Seq(nn.Module):
    def __init__(self, vocab=11, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width, padding_idx=PAD)
        self.encoder = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, src, tgt_in):
        _, state = self.encoder(self.embed(src))
        hidden, _ = self.decoder(self.embed(tgt_in), state)
        return self.out(hidden)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=5e-6)
    args = parser.parse_args()
    torch.manual_seed(0)
    loader = DataLoader(Reverse(1600), batch_size=32, shuffle=True, collate_fn=collate)
    model = Seq2Seq()
    optim = torch.optim.Adam(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(args.epochs):
        for src, tgt in loader:
            logits = model(src, tgt[:, :-1])
            loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
            optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optim.step()
        print("epoch", epoch, loss.item())


if __name__ == "__main__":
    main()
