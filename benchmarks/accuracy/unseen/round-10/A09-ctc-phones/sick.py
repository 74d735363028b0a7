"""Phone recogniser on synthetic filterbank frames: strided conv front end, GRU, CTC."""
import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

N_PHONES, N_MELS, BLANK = 8, 12, 0


class Utterances(Dataset):
    def __init__(self, n, templates, seed):
        rng = np.random.default_rng(seed)
        self.items = []
        for _ in range(n):
            phones = rng.integers(1, N_PHONES + 1, rng.integers(4, 11))
            frames = []
            for p in phones:
                d = rng.integers(3, 6)
                shape = np.hanning(d + 2)[1:-1, None]
                frames.append(shape * templates[p - 1] + rng.normal(0, 0.15, (d, N_MELS)))
            self.items.append((torch.tensor(np.concatenate(frames), dtype=torch.float32), torch.tensor(phones)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    feats, phones = zip(*batch)
    feat_lens = torch.tensor([len(f) for f in feats])
    phone_lens = torch.tensor([len(p) for p in phones])
    return pad_sequence(feats, batch_first=True), torch.cat(phones), feat_lens, phone_lens


class Recogniser(nn.Module):
    def __init__(self, strides, channels=48, hidden=48):
        super().__init__()
        self.strides = strides
        sizes = [N_MELS] + [channels] * len(strides)
        self.convs = nn.ModuleList(
            nn.Conv1d(a, b, kernel_size=5, stride=s, padding=2) for a, b, s in zip(sizes, sizes[1:], strides))
        self.rnn = nn.GRU(channels, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, N_PHONES + 1)

    def output_lengths(self, lens):
        for s in self.strides:
            lens = torch.div(lens - 1, s, rounding_mode="floor") + 1
        return lens

    def forward(self, feats, lens):
        x = feats.transpose(1, 2)
        for conv in self.convs:
            x = torch.relu(conv(x))
        h, _ = self.rnn(x.transpose(1, 2))
        return self.out(h).log_softmax(-1), self.output_lengths(lens)


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (x != y))
    return row[-1]


@torch.no_grad()
def phone_error_rate(model, loader):
    model.eval()
    errors = total = 0
    for feats, phones, fl, pl in loader:
        log_probs, out_lens = model(feats, fl)
        for seq, n, ref in zip(log_probs.argmax(-1), out_lens, phones.split(pl.tolist())):
            best = torch.unique_consecutive(seq[:n]).tolist()
            errors += edit_distance([p for p in best if p != BLANK], ref.tolist())
            total += len(ref)
    return errors / total


def main():
    torch.manual_seed(2)
    templates = np.random.default_rng(2).normal(0, 1, (N_PHONES, N_MELS))
    train = DataLoader(Utterances(800, templates, 3), batch_size=20, shuffle=True, collate_fn=collate)
    val = DataLoader(Utterances(150, templates, 4), batch_size=50, collate_fn=collate)
    model = Recogniser(strides=(2, 2))
    ctc = nn.CTCLoss(blank=BLANK, zero_infinity=True)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(10):
        model.train()
        total = steps = 0
        for feats, phones, fl, pl in train:
            log_probs, out_lens = model(feats, fl)
            loss = ctc(log_probs.transpose(0, 1), phones, out_lens, pl)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            total += loss.item()
            steps += 1
        print(f"epoch {epoch} ctc {total / steps:.4f} val PER {phone_error_rate(model, val):.4f}")


if __name__ == "__main__":
    main()
