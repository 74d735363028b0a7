"""Unsegmented digit-strip reading: columns of a picture strip -> digit string, trained with CTC."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

BLANK = 0


class Strips(Dataset):
    """Random strings of 2..3 digits drawn side by side with gaps, from one pool of digit pictures."""

    def __init__(self, images, labels, size, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(size):
            cols, text = [np.zeros((8, rng.integers(0, 3)))], []
            for _ in range(rng.integers(2, 4)):
                j = rng.integers(len(labels))
                cols += [images[j] / 16.0, np.zeros((8, rng.integers(1, 4)))]
                text.append(int(labels[j]) + 1)
            strip = np.concatenate(cols, axis=1)
            self.items.append((torch.tensor(strip.T, dtype=torch.float32), torch.tensor(text)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(items):
    xs, ys = zip(*items)
    x = nn.utils.rnn.pad_sequence(xs, batch_first=True)
    return x, torch.tensor([len(a) for a in xs]), torch.cat(ys), torch.tensor([len(a) for a in ys])


class Reader(nn.Module):
    def __init__(self, n_out, width=64):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv1d(8, width, 5, padding=2), nn.ReLU(),
                                  nn.Conv1d(width, width, 5, padding=2), nn.ReLU())
        self.rnn = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * width, n_out)

    def scores(self, x):
        h = self.conv(x.transpose(1, 2)).transpose(1, 2)
        h, _ = self.rnn(h)
        return self.fc(h)

    def forward(self, x):
        return self.scores(x).log_softmax(-1)


def greedy(emission, lengths):
    texts = []
    for row, n in zip(emission.argmax(-1).tolist(), lengths.tolist()):
        out, last = [], BLANK
        for c in row[:n]:
            if c != last and c != BLANK:
                out.append(c)
            last = c
        texts.append(out)
    return texts


class CtcTask:
    def __init__(self, lr=4e-3):
        self.model = Reader(11)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)

    def loss(self, x, xl, y, yl):
        emission = self.model(x)
        return self.ctc(emission.transpose(0, 1), y, xl, yl)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for batch in loader:
            self.opt.zero_grad()
            loss = self.loss(*batch)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.opt.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        exact, n, total = 0, 0, 0.0
        for x, xl, y, yl in loader:
            total += self.loss(x, xl, y, yl).item() * len(xl)
            refs = [t.tolist() for t in y.split(yl.tolist())]
            exact += sum(a == b for a, b in zip(greedy(self.model.scores(x), xl), refs))
            n += len(xl)
        return total / n, exact / n


def main():
    torch.manual_seed(4)
    d = load_digits()
    order = np.random.default_rng(4).permutation(len(d.target))
    a, b = order[:1400], order[1400:]
    train = DataLoader(Strips(d.images[a], d.target[a], 900, 1), 25, shuffle=True, collate_fn=collate)
    valid = DataLoader(Strips(d.images[b], d.target[b], 300, 2), 100, collate_fn=collate)
    task = CtcTask()
    for epoch in range(8):
        tl = task.train_epoch(train)
        vl, acc = task.evaluate(valid)
        print(f"epoch {epoch}: train ctc {tl:.3f}  valid ctc {vl:.3f}  strings right {acc:.3f}")


if __name__ == "__main__":
    main()
