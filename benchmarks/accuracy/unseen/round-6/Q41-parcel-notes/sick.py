import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

VOCAB, PAD = 40, 0


def notes(n, seed):
    rng = random.Random(seed)
    out = []
    for _ in range(n):
        k = rng.randint(3, 8) if rng.random() < 0.8 else rng.randint(60, 90)
        ids = [rng.randint(1, VOCAB - 1) for _ in range(k)]
        label = int(ids[-1] + ids[-2] > VOCAB)
        out.append((torch.tensor(ids), label))
    return out


def collate(items):
    seqs, labels = zip(*items)
    seqs = pad_sequence(seqs, batch_first=True, padding_value=PAD)
    lengths = torch.tensor([len(s) for s in seqs])  # <- PM315
    return seqs, lengths, torch.tensor(labels)


class NoteLSTM(nn.Module):
    def __init__(self, dim=24, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 2)

    def forward(self, seqs, lengths):
        packed = pack_padded_sequence(self.emb(seqs), lengths, batch_first=True, enforce_sorted=False)
        _, (h, _) = self.lstm(packed)
        return self.fc(h[-1])


def main():
    torch.manual_seed(7)
    torch.set_num_threads(1)
    train = DataLoader(notes(1500, 1), batch_size=32, shuffle=True, collate_fn=collate)
    test = DataLoader(notes(400, 2), batch_size=64, collate_fn=collate)
    model = NoteLSTM()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        model.train()
        total = 0
        for seqs, lengths, y in train:
            loss = nn.functional.cross_entropy(model(seqs, lengths), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            ok = sum((model(s, l).argmax(1) == y).sum().item() for s, l, y in test)
        print(f"epoch {epoch + 1}: loss {total / len(train):.3f}, test accuracy {ok / 400:.3f}")


if __name__ == "__main__":
    main()
