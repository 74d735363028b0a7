"""Short synthetic product reviews, positive or negative, with a bidirectional GRU encoder."""
import random
from collections import Counter

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

GOOD = "great lovely solid superb crisp reliable quick bright comfy sturdy".split()
BAD = "awful flimsy noisy slow broken dull cheap wobbly stiff leaky".split()
THING = "screen handle box cable button motor lid strap case battery".split()
FILL = "the a this it was is very quite really and my our for with".split()


def write_review(rng):
    positive = rng.random() < 0.5
    words = []
    for _ in range(rng.randint(2, 5)):
        mood = GOOD if (rng.random() < 0.8) == positive else BAD
        if rng.random() < 0.35:
            mood = BAD if mood is GOOD else GOOD
            words += [rng.choice(FILL), rng.choice(THING), "not", rng.choice(mood)]
        else:
            words += [rng.choice(FILL), rng.choice(THING), rng.choice(FILL), rng.choice(mood)]
        words += rng.choices(FILL, k=rng.randint(0, 3))
    return words, int(positive)


class Vocab:
    def __init__(self, texts):
        counts = Counter(w for t in texts for w in t)
        self.index = {w: i + 2 for i, (w, _) in enumerate(counts.most_common())}

    def __len__(self):
        return len(self.index) + 2

    def __call__(self, words):
        return torch.tensor([self.index.get(w, 1) for w in words])


def make_loader(data, vocab, batch_size, shuffle):
    def collate(rows):
        ids = [vocab(w) for w, _ in rows]
        return (pad_sequence(ids, batch_first=True), torch.tensor([len(i) for i in ids]),
                torch.tensor([float(y) for _, y in rows]))
    return DataLoader(data, batch_size=batch_size, shuffle=shuffle, collate_fn=collate)


class Encoder(nn.Module):
    """Summary of a text: last forward state and last backward state side by side."""

    def __init__(self, vocab_size, dim, hidden):
        super().__init__()
        self.emb = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.rnn = nn.GRU(dim, hidden, batch_first=True, bidirectional=True)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.rnn(packed)
        return h.reshape(ids.shape[0], -1)


class Classifier(nn.Module):
    def __init__(self, vocab_size, dim=32, hidden=32):
        super().__init__()
        self.encoder = Encoder(vocab_size, dim, hidden)
        self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(2 * hidden, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, ids, lengths):
        return self.head(self.encoder(ids, lengths)).squeeze(1)


@torch.no_grad()
def evaluate(model, loader, crit):
    model.eval()
    loss, right, n = 0.0, 0, 0
    for ids, lengths, y in loader:
        z = model(ids, lengths)
        loss += crit(z, y).item() * len(y)
        right += ((z > 0).float() == y).sum().item()
        n += len(y)
    return loss / n, right / n


def main():
    rng = random.Random(7)
    torch.manual_seed(7)
    data = [write_review(rng) for _ in range(2600)]
    train, valid = data[:2000], data[2000:]
    vocab = Vocab([w for w, _ in train])
    tl, vl = make_loader(train, vocab, 50, True), make_loader(valid, vocab, 100, False)
    model = Classifier(len(vocab))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    crit = nn.BCEWithLogitsLoss()
    for epoch in range(6):
        model.train()
        run = 0.0
        for ids, lengths, y in tl:
            opt.zero_grad()
            loss = crit(model(ids, lengths), y)
            loss.backward()
            opt.step()
            run += loss.item() * len(y)
        v, acc = evaluate(model, vl, crit)
        print(f"epoch {epoch}: train {run / len(train):.4f}, valid {v:.4f}, accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
