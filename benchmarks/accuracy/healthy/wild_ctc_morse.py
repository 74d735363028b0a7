"""Reading Morse-like beeps with CTC: variable lengths, blanks, greedy decoding and an edit distance."""
import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

LETTERS = {1: ".-", 2: "-...", 3: "-.", 4: "..", 5: "---"}


def key(rnd):
    text = [rnd.choice(list(LETTERS)) for _ in range(rnd.randrange(2, 5))]
    wave = []
    for c in text:
        for mark in LETTERS[c]:
            wave += [1.0] * (1 if mark == "." else 3) + [0.0]
        wave += [0.0] * 3
    x = torch.tensor(wave) + 0.1 * torch.randn(len(wave))
    return x[:, None], torch.tensor(text)


def batch(rows):
    x = pad_sequence([a for a, _ in rows])
    return x, torch.tensor([len(a) for a, _ in rows]), torch.cat([b for _, b in rows]), torch.tensor([len(b) for _, b in rows])


class Listener(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv = nn.Conv1d(1, width, 5, padding=2)
        self.rnn = nn.GRU(width, width, bidirectional=True)
        self.out = nn.Linear(2 * width, 6)

    def forward(self, x):
        h = torch.relu(self.conv(x.permute(1, 2, 0))).permute(2, 0, 1)
        return self.out(self.rnn(h)[0]).log_softmax(-1)


def decode(logp, lengths):
    for row, n in zip(logp.argmax(-1).T, lengths):
        row = torch.unique_consecutive(row[:n])
        yield row[row != 0].tolist()


def distance(a, b):
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


def error_rate(model, rows):
    x, xl, _, _ = batch(rows)
    with torch.no_grad():
        texts = list(decode(model(x), xl))
    return sum(distance(t, r[1].tolist()) for t, r in zip(texts, rows)) / sum(len(r[1]) for r in rows)


torch.manual_seed(3)
torch.set_num_threads(1)
rnd = random.Random(3)
model, ctc = Listener(), nn.CTCLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
held_out = [key(rnd) for _ in range(60)]
print(f"error rate before {error_rate(model, held_out):.3f}")
for step in range(160):
    x, xl, y, yl = batch([key(rnd) for _ in range(20)])
    loss = ctc(model(x), y, xl, yl)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    opt.step()
    if step % 40 == 39:
        print(f"step {step + 1} loss {loss.item():.4f}")
model.eval()
print(f"error rate after {error_rate(model, held_out):.3f}")
