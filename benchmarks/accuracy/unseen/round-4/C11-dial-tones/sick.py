"""Read a dialled number off a tone recording."""
import random
from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Setup:
    tones: int = 6
    bands: int = 8
    width: int = 48
    stride: int = 4  # <- PM515
    steps: int = 250
    batch: int = 24
    lr: float = 3e-3


def dial(rnd, patterns, frames_per_tone):
    digits = []
    while len(digits) < rnd.randrange(5, 10):
        d = rnd.randrange(1, len(patterns))
        if not digits or digits[-1] != d:
            digits.append(d)
    frames = [patterns[d] for d in digits for _ in range(frames_per_tone)]
    x = torch.stack(frames)
    return x + 0.3 * torch.randn(x.shape), digits


def batch_of(rnd, patterns, n, speeds):
    items = [dial(rnd, patterns, rnd.choice(speeds)) for _ in range(n)]
    x = nn.utils.rnn.pad_sequence([a for a, _ in items], batch_first=True)
    lengths = torch.tensor([len(a) for a, _ in items])
    targets = torch.tensor([d for _, ds in items for d in ds])
    return x, lengths, targets, torch.tensor([len(ds) for _, ds in items]), [ds for _, ds in items]


class Reader(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.front = nn.Conv1d(s.bands, s.width, 5, stride=s.stride, padding=2)
        self.rnn = nn.GRU(s.width, s.width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * s.width, s.tones + 1)
        self.stride = s.stride

    def forward(self, x, lengths):
        h = torch.relu(self.front(x.transpose(1, 2))).transpose(1, 2)
        h, _ = self.rnn(h)
        return self.out(h).log_softmax(-1), (lengths - 1) // self.stride + 1


def greedy(logp, lengths):
    texts = []
    for row, n in zip(logp.argmax(-1), lengths):
        seq, prev = [], 0
        for k in row[:n].tolist():
            if k != 0 and k != prev:
                seq.append(k)
            prev = k
        texts.append(seq)
    return texts


def main():
    s = Setup()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    rnd = random.Random(0)
    patterns = [torch.zeros(s.bands)] + [2 * torch.randn(s.bands) for _ in range(s.tones)]
    model = Reader(s)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)
    opt = torch.optim.Adam(model.parameters(), lr=s.lr)
    for step in range(s.steps):
        x, lengths, targets, target_lengths, _ = batch_of(rnd, patterns, s.batch, (3, 8))
        logp, out_lengths = model(x, lengths)
        loss = ctc(logp.transpose(0, 1), targets, out_lengths, target_lengths)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 50 == 49:
            print(f"step {step + 1} loss {loss.item():.4f}")
    model.eval()
    for name, speed in (("slow", 8), ("fast", 3)):
        x, lengths, _, _, texts = batch_of(rnd, patterns, 100, (speed,))
        with torch.no_grad():
            read = greedy(*model(x, lengths))
        print(f"{name} callers read exactly {sum(a == b for a, b in zip(read, texts)) / 100:.2f}")


if __name__ == "__main__":
    main()
