"""Temporal convolutional network on monophonic tunes: next-note prediction, then a free-running continuation."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm

torch.set_num_threads(1)
torch.manual_seed(6)

NOTES, BEAT = 12, 48
SCALE = torch.tensor([0, 2, 4, 5, 7, 9, 11])


def tunes(n, seed):
    g = torch.Generator().manual_seed(seed)
    out = torch.zeros(n, BEAT, dtype=torch.long)
    for i in range(n):
        motif = SCALE[torch.randint(0, 7, (6,), generator=g)]
        for b in range(0, BEAT, 6):
            bar = motif.clone()
            if (b // 6) % 2:
                bar = (bar + 5) % NOTES
            out[i, b:b + 6] = bar
    return out


class Chomp1d(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size

    def forward(self, x):
        return x[:, :, self.size:].contiguous()


class TemporalBlock(nn.Module):
    def __init__(self, cin, cout, k, dilation):
        super().__init__()
        pad = (k - 1) * dilation
        self.conv1 = weight_norm(nn.Conv1d(cin, cout, k, padding=pad, dilation=dilation))
        self.chomp1 = Chomp1d(pad)
        self.conv2 = weight_norm(nn.Conv1d(cout, cout, k, padding=pad, dilation=dilation))
        self.chomp2 = Chomp1d(pad)
        self.net = nn.Sequential(self.conv1, self.chomp1, nn.ReLU(), self.conv2, self.chomp2, nn.ReLU())
        self.skip = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x):
        return F.relu(self.net(x) + self.skip(x))


class TCN(nn.Module):
    def __init__(self, channels=(48, 48, 48), k=3):
        super().__init__()
        self.emb = nn.Embedding(NOTES, 24)
        layers, cin = [], 24
        for i, c in enumerate(channels):
            layers.append(TemporalBlock(cin, c, k, 2 ** i))
            cin = c
        self.tcn = nn.Sequential(*layers)
        self.head = nn.Linear(cin, NOTES)

    def forward(self, notes):
        h = self.tcn(self.emb(notes).transpose(1, 2))
        return self.head(h.transpose(1, 2))


@torch.no_grad()
def continuation_accuracy(model, data, prompt=24):
    model.eval()
    seq = data[:, :prompt]
    for _ in range(BEAT - prompt):
        seq = torch.cat([seq, model(seq)[:, -1].argmax(-1, keepdim=True)], 1)
    return (seq[:, prompt:] == data[:, prompt:]).float().mean().item()


train, held = tunes(1200, 1), tunes(100, 2)
model = TCN()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    total, n = 0.0, 0
    for idx in torch.randperm(len(train)).split(40):
        x = train[idx]
        loss = F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        total += loss.item()
        n += 1
    with torch.no_grad():
        model.eval()
        held_loss = F.cross_entropy(model(held[:, :-1]).flatten(0, 1), held[:, 1:].flatten()).item()
    print(f"epoch {epoch} loss {total / n:.4f} held-out {held_loss:.4f} continuation acc {continuation_accuracy(model, held):.3f}")
