"""Recognise sequences of tones of varying lengths with a GRU and CTC (blank is class 0)."""
import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)
TONES = 5
proto = torch.randn(TONES + 1, 8)


def utterance():
    labels = [random.randint(1, TONES) for _ in range(random.randint(2, 5))]
    frames = []
    for lab in labels:
        frames += [torch.zeros(8)] * random.randint(1, 2) + [proto[lab]] * random.randint(2, 4)
    x = torch.stack(frames)
    return x + 0.3 * torch.randn_like(x), torch.tensor(labels)


def collate(items):
    xs, ys = zip(*items)
    xl, yl = torch.tensor([len(x) for x in xs]), torch.tensor([len(y) for y in ys])
    return nn.utils.rnn.pad_sequence(xs, batch_first=True), xl, torch.cat(ys), yl


class Recogniser(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(8, 48, batch_first=True, bidirectional=True)
        self.out = nn.Linear(96, TONES + 1)

    def forward(self, x, xl):
        p = nn.utils.rnn.pack_padded_sequence(x, xl, batch_first=True, enforce_sorted=False)
        h, _ = nn.utils.rnn.pad_packed_sequence(self.gru(p)[0], batch_first=True)
        return self.out(h).log_softmax(-1)


def greedy(logp, xl):
    out = []
    for row, n in zip(logp.argmax(-1), xl):
        seq = torch.unique_consecutive(row[:n])
        out.append(seq[seq != 0].tolist())
    return out


train = [utterance() for _ in range(800)]
test = [utterance() for _ in range(150)]
model, ctc = Recogniser(), nn.CTCLoss(blank=0, zero_infinity=True)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    random.shuffle(train)
    model.train()
    total = 0.0
    for i in range(0, len(train), 25):
        x, xl, y, yl = collate(train[i:i + 25])
        loss = ctc(model(x, xl).transpose(0, 1), y, xl, yl)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        x, xl, _, _ = collate(test)
        hyp = greedy(model(x, xl), xl)
    exact = sum(h == t[1].tolist() for h, t in zip(hyp, test)) / len(test)
    if epoch % 2:
        print(f"epoch {epoch + 1}: ctc {total / 32:.3f}  whole sequences right {exact:.2f}")
